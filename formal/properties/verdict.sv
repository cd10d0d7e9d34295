// No FPDU is placed without its commit: the verdict of MPA (CRC and markers), a stream that is not
// in error and, of a tagged one, a region that passed every check with a right to this access, no
// wrap, and every octet inside; of an untagged one, a buffer posted and long enough; of a Read
// Response, an outstanding read that it continues, in order (read_check.sv). Nor does one that fails
// complete a message or a read, move a read on, or invalidate an STag. Nothing is completed without
// room in the completion queue.
module properties(
    input clock, input [`BITS_segment-1:0] segment, input [`BITS_role-1:0] role, input in_error,
    input [4:0] envelope_error, input envelope_refused, input unknown, input foreign,
    input [4:0] rights, input mo_bad, input too_long, input has_room, input follows_bad,
    input crc_good, input marker_good, input marker_seen, input outside, input behind,
    input not_posted, input gap, input read_differs, input empty, input full, input decide
);
    wire [`BITS_verdict-1:0] verdict;
    `BLOCK block(
        .clock(clock), .segment(segment), .role(role), .in_error(in_error),
        .envelope_error(envelope_error), .envelope_refused(envelope_refused), .unknown(unknown),
        .foreign(foreign), .rights(rights), .mo_bad(mo_bad), .too_long(too_long),
        .has_room(has_room), .follows_bad(follows_bad), .crc_good(crc_good),
        .marker_good(marker_good), .marker_seen(marker_seen), .outside(outside),
        .behind(behind), .not_posted(not_posted), .gap(gap), .read_differs(read_differs),
        .empty(empty), .full(full), .decide(decide), .verdict(verdict)
    );
    wire known = segment[2], tagged = segment[3], last = segment[4], invalidates = segment[14];
    wire [3:0] opcode = segment[12:9];
    wire response = tagged && opcode == 2;
    wire wraps = segment[178], has_payload = segment[292];
    wire host = role[0], check = role[1], ooo = role[2], unproven = role[3], replayed = role[4];

    // A cycle after the other: in_error in cycle 2, region in cycle 3, the rest at `decide`; the
    // segment and its role stand for all of them.
    reg stopped_3 = 0, stopped_4 = 0, region_4 = 0, queue_4 = 0, invalidate_4 = 0, envelope_4 = 0;
    reg room_4 = 0, read_4 = 0;
    reg [2:0] cycles = 0;
    reg [`BITS_segment-1:0] segment_before = 0;
    reg [`BITS_role-1:0] role_before = 0;
    wire [4:0] right = opcode == 0 ? 5'b00001 : 5'b00010;
    wire sound = crc_good && marker_good && envelope_4;
    wire usable = tagged ? region_4 && !outside
        : queue_4 && !behind && !not_posted && (!gap || ooo);
    // A read is outstanding, and the segment is what comes next of it.
    wire asked = !response || (read_4 && !empty && !ooo);
    reg was_full = 0, may_place = 0, may_end = 0, may_invalidate = 0, may_continue = 0, may_respond = 0;
    always @(posedge clock) begin
        if (cycles != 7) cycles <= cycles + 1;
        segment_before <= segment;
        role_before <= role;
        stopped_3 <= in_error;
        stopped_4 <= stopped_3;
        envelope_4 <= envelope_error == 0;
        region_4 <= !unknown && !foreign && (rights & right) != 0 && !wraps;
        queue_4 <= !mo_bad && !too_long;
        invalidate_4 <= !unknown && !foreign && rights[3];
        room_4 <= has_room && !follows_bad;
        read_4 <= !read_differs;
        if (decide) begin
            was_full <= full;
            may_place <= sound && !stopped_4 && known && !host && !check && !replayed
                && has_payload && usable && asked
                && (!ooo || (room_4 && (marker_seen || !unproven)));
            may_end <= sound && !stopped_4 && !host && !check && !ooo
                && (usable || (tagged && !has_payload)) && asked;
            may_respond <= response && last;
            may_continue <= sound && !stopped_4 && known && !host && !check && !ooo
                && response && has_payload && !last && usable && asked;
            may_invalidate <= sound && !stopped_4 && known && !host && !check && !ooo
                && (tagged || (usable && invalidate_4));
        end
    end
    always @(*) begin
        // A record is of one kind. An envelope that refuses has an error; only untagged segments
        // invalidate.
        assume(host + check + ooo + replayed <= 3'd1);
        assume(envelope_refused == (envelope_error != 0));
        if (invalidates) assume(!tagged);
        if (decide) assume(cycles >= 3 && segment == segment_before && role == role_before);
        if (verdict[7]) assert(may_place);
        if (verdict[11] || verdict[12]) assert(may_end);
        if (verdict[12]) assert(may_respond);
        if (verdict[19]) assert(may_continue && !verdict[12]);
        if (verdict[13]) assert(may_invalidate);
        // Refused, reported and placed exclude each other; a silent one reports nothing.
        if (verdict[5]) assert(!verdict[7] && !verdict[11] && !verdict[12] && !verdict[13]);
        if (verdict[6]) assert(verdict[4:0] == 0 && !verdict[11] && !verdict[12] && !verdict[13]);
        if (verdict[5] || verdict[6]) assert(!verdict[19]);
        // What is reported has room in the completion queue; a refusal without room is lost.
        assert(verdict[20] == (!was_full && (verdict[5] || verdict[11] || verdict[12])));
        assert(verdict[21] == (was_full && verdict[5]));
        if (was_full) assert(!verdict[11] && !verdict[12]);
    end
endmodule
