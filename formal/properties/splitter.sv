// What a command lets be written is exactly what it names: its segments begin at its first octet,
// follow each other without a gap, end at its last octet, and none leaves a line of the maximum
// payload size. A command that is not to be written has no segment that writes. A host frame goes to
// the slot that was there for it, which is taken once, and its header goes to the same slot.
module properties(
    input clock, input reset, input [`BITS_command-1:0] command, input command_valid,
    input [63:0] slot_address, input [31:0] slot_word_3, input slot_too_long, input slot_full,
    input segment_room, input completion_ready
);
    (* anyconst *) wire [1:0] max_payload;
    wire command_take, slot_take, segment_valid, completion_valid, drop_ring_full, drop_too_long;
    wire [15:0] slot_octets;
    wire [`BITS_segment-1:0] segment;
    wire [`BITS_completion-1:0] completion;
    `BLOCK block(
        .clock(clock), .reset(reset), .command(command), .command_valid(command_valid),
        .command_take(command_take), .max_payload(max_payload), .slot_octets(slot_octets),
        .slot_address(slot_address), .slot_word_3(slot_word_3), .slot_too_long(slot_too_long),
        .slot_full(slot_full), .slot_take(slot_take), .segment(segment),
        .segment_valid(segment_valid), .segment_room(segment_room), .completion(completion),
        .completion_valid(completion_valid), .completion_ready(completion_ready),
        .drop_ring_full(drop_ring_full), .drop_too_long(drop_too_long)
    );
    (* hierconn *) wire [1:0] \block.state$q ;
    (* hierconn *) wire [2:0] \block.settle$q ;
    (* hierconn *) wire \block.host$q ;
    (* hierconn *) wire [63:0] \block.address$q ;
    (* hierconn *) wire [15:0] \block.less_one$q ;
    (* hierconn *) wire \block.writes$q ;
    (* hierconn *) wire [1:0] \block.primes$q ;
    (* hierconn *) wire \block.first$q ;
    (* hierconn *) wire \block.is_last$q ;
    (* hierconn *) wire [8:0] \block.origin$q ;
    (* hierconn *) wire [16:0] \block.last_octet$q ;
    (* hierconn *) wire [56:0] \block.line$q ;
    (* hierconn *) wire [8:0] \block.line_mask$q ;
    (* hierconn *) wire [16:0] \block.line_octets$q ;
    (* hierconn *) wire [56:0] \block.line_step$q ;
    localparam LOAD = 0, PREPARE = 1, COUNT = 2, ISSUE = 3;

    // The command: it stands until it is taken, and one that writes has an octet at least.
    wire [1:0] kind = command[1:0];
    wire [63:0] address = command[81:18];
    wire [15:0] octets = command[97:82];
    wire is_write = kind == 1, is_host = kind == 2;
    reg [`BITS_command-1:0] command_before = 0;
    reg stands = 0;
    always @(posedge clock) begin
        command_before <= command;
        stands <= command_valid && !command_take && !reset;
    end
    always @(*) begin
        if (stands) assume(command_valid && command == command_before);
        if (is_write || is_host) assume(octets != 0);
    end

    // Cycles that a host frame has waited for its slot, and since the last slot was taken, up to 7;
    // this frame's has been.
    reg [2:0] shown = 0, since_take = 7;
    reg took = 0, was_load = 0;
    reg [63:0] slot_before = 0;
    always @(posedge clock) begin
        shown <= \block.state$q == LOAD && command_valid && is_host && !reset
            ? shown + (shown != 7) : 0;
        since_take <= reset ? 7 : slot_take ? 0 : since_take + (since_take != 7);
        took <= (took || slot_take) && \block.state$q != LOAD && !reset;
        was_load <= \block.state$q == LOAD && !reset;
        slot_before <= slot_address;
    end
    // It stands from when it has been asked for until it is taken (host_slot.sv).
    always @(*) if (since_take >= 5 && (shown >= 5 || \block.state$q == PREPARE))
        assume(slot_address == slot_before);

    // What it may write; a host frame goes after the 16 octets of its slot's header.
    reg writes = 0;
    reg [63:0] next = 0, last = 0;
    wire [63:0] begins = is_host ? (slot_address | 16) : address;
    wire [63:0] base = {segment[99:43], 7'b0};
    wire [63:0] segment_first = base + segment[108:100];
    wire [63:0] segment_last = base + segment[117:109];
    always @(posedge clock) begin
        if (\block.state$q == LOAD) begin
            writes <= is_host ? !slot_too_long && !slot_full : is_write;
            next <= begins;
            last <= begins + octets - 1;
        end
        if (segment_valid) next <= segment_last + 1;
    end
    wire [9:0] line = max_payload == 0 ? 128 : max_payload == 1 ? 256 : 512;
    reg ran = 0;
    always @(posedge clock) ran <= 1;
    always @(*) if (ran) begin
        if (segment_valid) assert(segment[1] == writes);
        if (segment_valid) assert(segment[36:35] <= 2);
        // Without a TLP: the command's only segment, of no octets.
        if (segment_valid && !writes) assert(segment[0] && segment[117:100] == 0);
        if (segment_valid && !writes) assert(segment[36:35] == 0);
        if (segment_valid && writes) begin
            assert(segment_first == next);
            assert(segment_last - next <= last - next);
            assert(segment[0] == (segment_last == last));
            assert((segment_first ^ segment_last) < line);
        end
        if (\block.state$q == PREPARE && was_load && is_host)
            assert(shown >= 5 && since_take >= 6);
        if (slot_take) assert(is_host && writes && !took && completion_valid && completion_ready);
        if (completion_valid && is_host) assert(completion[0] && (completion[100:37] | 16) == next);
        // What makes these true after any number of cycles.
        if (\block.state$q == PREPARE) assert(!took);
        if (\block.state$q == ISSUE) assert(since_take >= 1);
        if (\block.state$q == LOAD)
            assert(since_take >= shown + 4'd2 && \block.settle$q == shown);
        if (\block.state$q == PREPARE) assert(since_take >= 3 && stands);
        if (\block.state$q == PREPARE && is_host) assert(since_take >= 6);
        if (\block.state$q == PREPARE) assert(\block.host$q == is_host);
        if (\block.state$q == PREPARE && is_host && writes) assert((slot_before | 16) == next);
        assert(\block.line_mask$q == line - 1 && \block.line_octets$q == line);
        assert(\block.line_step$q == line / 128);
        if (\block.state$q != LOAD) begin
            assert(\block.writes$q == writes);
            if (writes) assert(last - next <= 65535);
        end
        if (\block.state$q >= COUNT && !writes) begin
            assert(\block.first$q && \block.origin$q == 0 && \block.last_octet$q == 0);
            assert(\block.primes$q == 0);
            if (\block.state$q != COUNT) assert(\block.is_last$q );
        end
        if (\block.state$q >= COUNT) assert(\block.primes$q <= 2);
        if (\block.state$q == PREPARE && writes)
            assert(\block.address$q == next && \block.less_one$q == last - next);
        if (\block.state$q >= COUNT && writes) begin
            assert((base & (line - 1)) == 0);
            assert(\block.last_octet$q == last - base);
            assert(next == base + (\block.first$q ? \block.origin$q : 0));
            assert(\block.origin$q < line);
            if (\block.state$q == COUNT) assert(\block.first$q );
            else assert(\block.is_last$q == (\block.last_octet$q < line));
        end
    end
endmodule
