// Where topics are many a document is walked over the topics that matter to it: its slots. They are
// those with customers in the document, and in its author where the author has few; topics that
// tokens join on the way get slots too. A slot is a column of numbers; LANES of them lie side by
// side, the first NEAR_SLOTS of a group in shared memory and all further ones in the card's.

#define NEAR_TILES (NEAR_SLOTS / LANES)
#define FAR_TILES ((K + LANES - 1) / LANES)

// A group's slots: FIELDS numbers each, one of them the topic.
template <int FIELDS, int TOPIC> struct Cells {
  float *near_cells, *far_cells;
  METHOD Column operator[](int slot) const {
    int tile = slot / LANES;
#if NEAR_TILES == 0
    return {far_cells + tile * (FIELDS * LANES) + slot % LANES};
#endif
    float *begin = tile < NEAR_TILES ? near_cells + tile * (FIELDS * LANES)
                                     : far_cells + (tile - NEAR_TILES) * (FIELDS * LANES);
    return {begin + slot % LANES};
  }
};

// Groups of a warp begin in different banks of shared memory; after its slots each has room for
// ``besides`` numbers.
template <int FIELDS, int TOPIC> DEV Cells<FIELDS, TOPIC> group_cells(int besides) {
  Cells<FIELDS, TOPIC> cells;
  int stride = (NEAR_TILES * FIELDS * LANES + besides + 31) / 32 * 32 + LANES % 32;
  cells.near_cells = shared_pool + (i64)group_in_block() * stride;
  cells.far_cells = ctx.far_cells + first_group() * ((i64)FAR_TILES * FIELDS * LANES);
  return cells;
}

// Add the topics of up to two nodes (-1 for none) to a number of slots, in rising order; gives the
// new number. ``have`` holds a bit for each topic that has a slot, or is null where none has one.
// Every group of a warp takes part.
template <int FIELDS, int TOPIC>
DEV int list_topics(const Cells<FIELDS, TOPIC> &cells, int count, unsigned *have, int a, int b) {
  for (int first = 0; first < BIT_WORDS; first += LANES) {
    int i = first + lane_id();
    unsigned bits = 0u;
    if (i < BIT_WORDS) {
      if (a >= 0) bits |= bits_of(a)[i];
      if (b >= 0) bits |= bits_of(b)[i];
      if (have) {
        bits &= ~have[i];
        have[i] |= bits;
      }
    }
    if (!warp_any(bits != 0u)) continue;
    float own = (float)bit_count(bits);
    float until = group_scan(own);
    int slot = count + (int)(until - own);
    while (bits) {
      int bit = lowest_bit(bits);
      bits &= bits - 1u;
      cells[slot].whole(TOPIC) = i * 32 + bit;
      slot++;
    }
    count += (int)group_from(until, LANES - 1);
  }
  group_sync();
  return count;
}

// The slot of a topic, or -1; every lane looks through its own.
template <int FIELDS, int TOPIC>
DEV int find_slot(const Cells<FIELDS, TOPIC> &cells, int n_slots, int topic) {
  int found = -1;
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots; slot += LANES)
    if (cells[slot].whole(TOPIC) == topic) found = slot;
  return group_max(found);
}

// The same among slots in rising order that have it; one lane alone.
template <int FIELDS, int TOPIC>
DEV int look_up(const Cells<FIELDS, TOPIC> &cells, int n_slots, int topic) {
  int low = 0, high = n_slots;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (cells[middle].whole(TOPIC) <= topic)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// The slot where the sum of the weights above zero passes the target; -1 if it does not. ``mass`` is
// this lane's part of the sum, ``running`` that of all lanes up to this one.
template <int FIELDS, int TOPIC>
DEV int pick_slot(const Cells<FIELDS, TOPIC> &cells, int field, int n_slots, float target, float mass,
                  float running) {
  int who = group_first(mass > 0.0f && target < running);
  target -= running - mass;
  int last = -1;
  bool found = false;
#pragma unroll 1
  for (int slot = lane_id(); slot < n_slots && lane_id() == who && !found; slot += LANES) {
    float weight = cells[slot].real(field);
    if (weight > 0.0f) {
      last = slot;
      found = target < weight;
      target -= weight;
    }
  }
  int picked = group_from(last, who < 0 ? 0 : who);
  return who < 0 ? -1 : picked;
}

// Whether a proposal stands: W(k') q(k) / (W(k) q(k')) against a random number. Weights W are below zero
// for topics that can come from the guesses alone; ``from`` and ``to`` are the guesses' own parts of q.
DEV bool accepts(float number, float before, float after, float from, float to) {
  from += before > 0.0f ? before : 0.0f;
  to += after > 0.0f ? after : 0.0f;
  return number * (fabsf(before) * to) < fabsf(after) * from;
}

// Do something for the slots that a lane goes through where a change reaches all of them, or only two:
// then the lane that has them.
template <typename Doing>
DEV void each_changed(bool all, int before, int after, int n_slots, Doing doing) {
  int slot = lane_id();
  if (!all) {
    bool none = after % LANES != lane_id();
    slot = before % LANES == lane_id() ? before : none ? K : after;
  }
#pragma unroll 1
  while (slot < n_slots) {
    doing(slot);
    bool second = slot == before && after != before && after % LANES == lane_id();
    slot = all ? slot + LANES : second ? after : n_slots;
  }
}
