// The STag lookup finds an STag only in a slot that is in use and holds its very index, and gives
// the region number of that slot: one slot of each way, those that the hash names, and no other.
//
// Any slot of each way (`watched`) is observed, whatever is written to the ways. A lookup whose
// slot is written in the cycle in which it is read is left out: table_gaps.sv proves that no such
// lookup is used.
module properties(
    input clock, input [31:0] hash, input [23:0] stag_index, input write,
    input [10:0] write_index, input [`BITS_write_entry-1:0] write_entry
);
    wire found;
    wire [9:0] region;
    `BLOCK block(
        .clock(clock), .hash(hash), .stag_index(stag_index), .found(found), .region(region),
        .write(write), .write_index(write_index), .write_entry(write_entry)
    );
    (* hierconn *) wire [8:0] \block.way$0.watched_address ;
    (* hierconn *) wire [8:0] \block.way$1.watched_address ;
    (* hierconn *) wire [8:0] \block.way$2.watched_address ;
    (* hierconn *) wire [34:0] \block.way$0.watched_data ;
    (* hierconn *) wire [34:0] \block.way$1.watched_data ;
    (* hierconn *) wire [34:0] \block.way$2.watched_data ;
    wire [26:0] watched = {
        \block.way$2.watched_address , \block.way$1.watched_address , \block.way$0.watched_address };
    wire [104:0] stored = {
        \block.way$2.watched_data , \block.way$1.watched_data , \block.way$0.watched_data };

    // A lookup that reads the watched slot of a way, and no write meets it there.
    wire [2:0] written, reads;
    // The slots as the driver wrote them, and as a lookup of each cycle before saw them.
    reg [104:0] granted = 0, granted_1 = 0, granted_2 = 0, granted_3 = 0, granted_4 = 0;
    reg [2:0] reads_1 = 0, reads_2 = 0, reads_3 = 0, reads_4 = 0;
    reg [23:0] index_1 = 0, index_2 = 0, index_3 = 0, index_4 = 0;
    wire [2:0] hit;
    genvar way;
    generate for (way = 0; way < 3; way = way + 1) begin
        wire [34:0] slot = granted_4[35 * way +: 35];
        assign written[way] = write && write_index == {way[1:0], watched[9 * way +: 9]};
        assign reads[way] = hash[9 * way +: 9] == watched[9 * way +: 9] && !written[way];
        assign hit[way] = slot[0] && slot[24:1] == index_4;
        always @(posedge clock) if (written[way]) granted[35 * way +: 35] <= write_entry;
    end endgenerate
    always @(posedge clock) begin
        {granted_4, granted_3, granted_2, granted_1} <= {granted_3, granted_2, granted_1, granted};
        {reads_4, reads_3, reads_2, reads_1} <= {reads_3, reads_2, reads_1, reads};
        {index_4, index_3, index_2, index_1} <= {index_3, index_2, index_1, stag_index};
    end
    always @(*) begin
        assert(stored == granted);
        if (&reads_4) begin
            assert(found == (hit != 0));
            if (hit == 3'b001) assert(region == granted_4[34:25]);
            if (hit == 3'b010) assert(region == granted_4[69:60]);
            if (hit == 3'b100) assert(region == granted_4[104:95]);
        end
    end
endmodule
