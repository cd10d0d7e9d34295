// The address that a command gets is that of the region for a tagged segment (region_check.sv), and
// that of the receive buffer for any other (receive_buffer.sv), as both stand in the cycle in which
// they belong to the segment in the checks (sequencer.sv, `address`); it stands until the next one.
module properties(
    input clock, input reset, input [`BITS_head-1:0] head, input [31:0] head_hash, input take,
    input address_there, input decide, input [`BITS_fpdu_verdict-1:0] fpdu_verdict,
    input is_judged, input commit, input has_room, input may_start, input may_run,
    input [`BITS_table_request-1:0] table_request, input table_valid,
    input [`BITS_cq_write-1:0] cq_write
);
    wire [63:0] address;
    wire [`BITS_segment-1:0] segment;
    `BLOCK block(
        .clock(clock), .reset(reset), .head(head), .head_hash(head_hash), .take(take),
        .address_there(address_there), .decide(decide), .fpdu_verdict(fpdu_verdict),
        .is_judged(is_judged), .commit(commit), .has_room(has_room), .may_start(may_start),
        .may_run(may_run), .table_request(table_request), .table_valid(table_valid),
        .cq_write(cq_write), .address(address), .segment(segment)
    );
    (* hierconn *) wire [63:0] \block.stag.region.bus_address ;
    (* hierconn *) wire [63:0] \block.untagged.pool.address ;
    wire tagged = segment[3];
    reg chosen = 0;
    reg [63:0] choice = 0;
    always @(posedge clock) if (address_there) begin
        chosen <= 1;
        choice <= tagged ? \block.stag.region.bus_address : \block.untagged.pool.address ;
    end
    always @(*) if (chosen) assert(address == choice);
endmodule
