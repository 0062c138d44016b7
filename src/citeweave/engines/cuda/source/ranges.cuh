// Ranges of ``node_value``: the levels of the topic side, then these; places of the report.
#define RANGE_PHI LEVELS
#define RANGE_GAMMA (LEVELS + 1)
#define RANGE_BURST (LEVELS + 2)
#define REPORT_RANGES 4
#define REPORT_TOPICS 31
#define REPORT_COUNTED 32
