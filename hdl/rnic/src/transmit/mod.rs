//! Transmit: frames that are gathered from host memory, summed, and sent.
//!
//! ```text
//! doorbells --> [ control ring ] --+ reads of units
//!               [ bulk ring ]    --+--> [ commands ] --> read_command (read engine)
//!                  ^ filled        |          | order
//!                  |          frame reads     v
//!               [ units ] <-----------|-- [ answers ] <-- read_* (read engine)
//!                  | head, elements   |          | beats of frames
//!                  +--> [ heads ] ----+ job      v
//!                           +-----------> [ intake ] --> [ store, 16 KiB ] --> [ sender ] --> frame_*
//!                                           |  | CRC state, sum                    ^
//!                             frame is over |  +--> [ finisher ] -- patch ---------+
//!                                           v
//!                                       [ writer ] --> tlp_*: statuses, reports
//! ```
//!
//! Ports, beside `clock` and `reset`; `<ring>` is `control` or `bulk`:
//!
//! | port                                  | bits       | meaning                                    |
//! |---------------------------------------|------------|--------------------------------------------|
//! | in `device_id`                        | 16         | requester id                               |
//! | in `<ring>_base`                      | 64         | bus address of the ring, multiple of 4096  |
//! | in `<ring>_report`                    | 64         | bus address of its report, multiple of 16  |
//! | in `<ring>_units_log2`, `_set_up`     | 5, 1       | one cycle: sets up the ring; 0 (or what is not 4 to 16): off |
//! | in `<ring>_tail`, `_tail_valid`       | 32, 1      | one cycle: doorbell                        |
//! | out `<ring>_head`, `_given_up`        | 32, 32     | as in reports                              |
//! | out `<ring>_stopped`                  | 1          | a read of units has failed                 |
//! | out `<ring>_settles`                  | 1          | set up, and reads of before are under way  |
//! | out `read_command`, `_valid`; in `_ready` | `ReadCommand` | to the read engine                  |
//! | in `read_data`, `_octets`, `_last`, `_error`, `_valid`; out `_ready` | D, 7, 1, 1, 1 | its answers |
//! | out `tlp_data`, `_keep`, `_last`, `_valid`, `_header`; in `_ready` | D, D/32, 1, 1, 128 | posted writes |
//! | out `frame_data`, `_octets`, `_last`, `_valid`; in `_ready` | W, 7, 1, 1 | frames, without FCS   |
//! | in `pause`                            | 1          | no frame begins                            |
//! | out `counts`                          | 5          | one cycle each: see `types::count`         |
//!
//! `reset` drops everything; the read engine is reset with the room, and no TLP begins.
