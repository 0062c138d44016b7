// Ranges of ``node_value``: the levels of the topic side, then these; places of the report.
#define RANGE_PHI LEVELS
#define RANGE_GAMMA (LEVELS + 1)
#define RANGE_BURST (LEVELS + 2)
#define RANGE_CITE (LEVELS + 4)  // after that of words: propensities, which lie elsewhere
#define REPORT_TOPICS 31
