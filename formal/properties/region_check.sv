// A write that the region check lets pass lies in a region that is there: valid, of that key, of
// the stream's Protection Domain and, if it is bound, of that very connection; its first octet is
// not before the region, its last one not after it; and it goes to the bus address that the
// region names.
//
// Any region (`watched`) is observed, whatever is written to and invalidated in the table. A read
// that meets a write of its region may give anything, and is left out: table_gaps.sv proves that no
// such read is used.
module properties(
    input clock, input [9:0] region, input found, input [7:0] stag_key, input [63:0] to,
    input [63:0] to_end, input [15:0] pd, input [9:0] connection,
    input write, input [9:0] write_region, input [`BITS_write_entry-1:0] write_entry,
    input write_valid, input invalidate, input [9:0] invalidate_region
);
    wire [`BITS_entry-1:0] entry;
    wire entry_valid, unknown, foreign, outside;
    wire [4:0] rights;
    wire [63:0] bus_address;
    `BLOCK block(
        .clock(clock), .region(region), .found(found), .stag_key(stag_key), .to(to),
        .to_end(to_end), .pd(pd), .connection(connection), .entry(entry),
        .entry_valid(entry_valid), .unknown(unknown), .foreign(foreign), .rights(rights),
        .bus_address(bus_address), .outside(outside), .write(write),
        .write_region(write_region), .write_entry(write_entry), .write_valid(write_valid),
        .invalidate(invalidate), .invalidate_region(invalidate_region)
    );
    (* hierconn *) wire [9:0] \block.entries.watched_address ;
    (* hierconn *) wire [`BITS_entry-1:0] \block.entries.watched_data ;
    (* hierconn *) wire [9:0] \block.valids.watched_address ;
    (* hierconn *) wire \block.valids.watched_data ;
    wire [9:0] watched = \block.entries.watched_address ;
    wire written = write && write_region == watched;
    wire cleared = invalidate && invalidate_region == watched;

    // The table as written: what the memories hold of the region.
    reg [`BITS_entry-1:0] granted = 0;
    reg granted_valid = 0;
    always @(posedge clock) begin
        if (written) granted <= write_entry;
        if (written) granted_valid <= write_valid;
        if (cleared) granted_valid <= 0;
    end
    // Cycle by cycle after a read of it.
    reg read_1 = 0, read_2 = 0, read_3 = 0, read_4 = 0;
    reg valid_1 = 0, valid_2 = 0, valid_3 = 0, valid_4 = 0;
    reg [`BITS_entry-1:0] entry_1 = 0, entry_2 = 0, entry_3 = 0, entry_4 = 0;
    reg passes_4 = 0, found_3 = 0;
    reg [7:0] key_3 = 0;
    reg [63:0] to_3 = 0, to_4 = 0, to_end_3 = 0, to_end_4 = 0, address_4 = 0;
    reg [15:0] pd_3 = 0;
    reg [9:0] connection_3 = 0;
    always @(posedge clock) begin
        {read_4, read_3, read_2, read_1} <= {read_3, read_2, read_1, region == watched && !written && !cleared};
        {valid_4, valid_3, valid_2, valid_1} <= {valid_3, valid_2, valid_1, granted_valid};
        {entry_4, entry_3, entry_2, entry_1} <= {entry_3, entry_2, entry_1, granted};
        {found_3, key_3, to_3, to_end_3} <= {found, stag_key, to, to_end};
        {pd_3, connection_3, to_4, to_end_4} <= {pd, connection, to_3, to_end_3};
        passes_4 <= !unknown && !foreign;
        address_4 <= bus_address;
    end
    wire [4:0] granted_rights = entry_3[4:0];
    wire [63:0] base = entry_4[102:39];
    wire [47:0] octets = entry_4[150:103];
    wire [63:0] offset = entry_4[214:151];
    always @(*) begin
        assume(\block.valids.watched_address == watched);
        // One writer at a time (table_gaps.sv).
        assume(!(write && invalidate));
        assert(\block.entries.watched_data == granted);
        assert(\block.valids.watched_data == granted_valid);
        if (read_3 && !unknown) assert(found_3 && valid_3 && entry_3[12:5] == key_3);
        if (read_3 && !foreign) begin
            assert(entry_3[28:13] == pd_3);
            if (granted_rights[4]) assert(entry_3[38:29] == connection_3);
        end
        if (read_3) assert(rights == granted_rights);
        // to_end is to plus the payload, without a wrap: the caller's test.
        if (read_4 && passes_4 && !outside && to_end_4 >= to_4) begin
            assert(valid_4);
            assert(to_4 >= base && to_end_4 - base <= octets);
            assert(address_4 == to_4 + offset);
        end
    end
endmodule
