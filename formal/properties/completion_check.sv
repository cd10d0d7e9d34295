// Of one tag, any one: a completion is taken for it only while one is due. It fits only if it begins
// at the next octet that is due, counts exactly the octets that are missing, and ends with them or
// at a multiple of 64; the tag advances by it and is over with the last octet. Only a status that is
// not successful ends it otherwise. Nothing else changes what is due.
module properties(
    input clock, input link_reset, input [127:0] completion_header,
    input [`BITS_completion_keep-1:0] completion_keep, input completion_last,
    input completion_valid, input issue, input [5:0] issue_tag, input [17:0] span
);
    (* anyconst *) wire [3:0] tag;
    (* anyconst *) wire [15:0] device_id;
    wire [`BITS_checked-1:0] checked;
    wire [`BITS_completion_keep-1:0] checked_keep;
    wire checked_first, checked_last, checked_valid, unexpected;
    `BLOCK block(
        .clock(clock), .link_reset(link_reset), .device_id(device_id),
        .completion_header(completion_header), .completion_keep(completion_keep),
        .completion_last(completion_last), .completion_valid(completion_valid), .issue(issue),
        .issue_tag(issue_tag), .span(span), .checked(checked), .checked_first(checked_first),
        .checked_keep(checked_keep), .checked_last(checked_last),
        .checked_valid(checked_valid), .unexpected(unexpected)
    );
    (* hierconn *) wire [3:0] \block.spans.watched_address ;
    (* hierconn *) wire [17:0] \block.spans.watched_data ;
    (* hierconn *) wire [3:0] \block.progress.watched_address ;
    (* hierconn *) wire [6:0] \block.progress.watched_data ;
    (* hierconn *) wire [15:0] \block.owed$q ;
    (* hierconn *) wire [15:0] \block.begun$q ;
    (* hierconn *) wire [91:0] \block.due$q ;
    (* hierconn *) wire \block.valid$0$q ;
    (* hierconn *) wire \block.valid$1$q ;
    (* hierconn *) wire \block.first$0$q ;
    (* hierconn *) wire \block.first$1$q ;
    (* hierconn *) wire \block.misfit$q ;
    (* hierconn *) wire \block.closed$q ;
    (* hierconn *) wire \block.in_packet$q ;
    (* hierconn *) wire [58:0] \block.fields$q ;
    always @(*) assume(\block.spans.watched_address == tag && \block.progress.watched_address == tag);

    // Headers on their way: of one cycle ago, and of two. Packets are whole.
    reg [127:0] header_1 = 0, header_2 = 0;
    reg valid_1 = 0, valid_2 = 0, first_1 = 0, first_2 = 0, in_packet = 0;
    always @(posedge clock) begin
        header_1 <= completion_header;
        header_2 <= header_1;
        valid_1 <= completion_valid && !link_reset;
        valid_2 <= valid_1 && !link_reset;
        first_1 <= !in_packet;
        first_2 <= first_1;
        if (completion_valid) in_packet <= !completion_last;
        if (link_reset) in_packet <= 0;
    end

    // What is due of the tag: octets from `next` to `last` of its place, if it is owed any. Before
    // the cycle in which it is issued, and one cycle ago: `was_`.
    reg owed = 0, fresh = 0, was_owed = 0, was_mine = 0, was_moved = 0, was_closed = 0;
    reg [8:0] next = 0, last = 0, was_next = 0, was_last = 0;
    reg begun = 0;
    wire issued = issue && issue_tag == tag;
    always @(*) begin
        assume(issue_tag[5:4] == 0);
        // tag_table.sv, read_requester.sv.
        if (issued) assume(!owed && span[8:0] <= span[17:9]);
    end

    // The header of two cycles ago.
    wire with_data = header_2[31:24] == 8'h4a;
    wire completion = with_data || header_2[31:24] == 8'h0a;
    wire starts = valid_2 && first_2;
    wire mine = starts && completion && header_2[95:80] == device_id && header_2[79:72] == tag;
    wire accepts = mine && owed && !fresh;
    wire success = header_2[47:45] == 0;
    wire [10:0] dwords = header_2[9:0] == 0 ? 1024 : header_2[9:0];
    wire [12:0] octets = header_2[43:32] == 0 ? 4096 : header_2[43:32];
    wire [10:0] ends = next[8:2] + dwords, due_end = last[8:2] + 11'd1;
    wire [12:0] missing = last - next + 13'd1;
    wire fits = with_data && success && header_2[70:64] == next[6:0] && octets == missing
        && (ends == due_end || (ends < due_end && ends[3:0] == 0));
    wire closes = accepts && (!success || (fits && ends == due_end));
    reg starts_3 = 0, completion_3 = 0, mine_3 = 0, accepts_3 = 0, fits_3 = 0, closes_3 = 0;
    reg poisoned_3 = 0;
    reg [6:0] dword_3 = 0;
    reg [10:0] payload_3 = 0;
    always @(posedge clock) begin
        if (accepts && fits) begin
            next <= {ends[6:0], 2'b0};
            begun <= 1;
        end
        if (closes) owed <= 0;
        if (issued) begin
            {owed, begun} <= 2'b10;
            {last, next} <= span;
        end
        if (link_reset) owed <= 0;
        fresh <= issued;
        {was_owed, was_next, was_last} <= {owed, next, last};
        {was_mine, was_moved, was_closed} <= {mine, accepts && fits, closes};
        starts_3 <= starts && !link_reset;
        {completion_3, mine_3, accepts_3, fits_3} <= {completion, mine, accepts, fits};
        {closes_3, poisoned_3, dword_3} <= {closes, header_2[14], next[8:2]};
        payload_3 <= with_data ? dwords : 0;
    end

    wire [91:0] due = \block.due$q ;
    always @(*) begin
        if (starts_3) begin
            assert(checked_valid && checked_first);
            assert(unexpected == (completion_3 && !checked[0]));
            // One for this tag, and none other is taken for it.
            if (checked[0]) assert(mine_3 == (checked[6:1] == tag));
            if (mine_3) assert(checked[0] == accepts_3);
        end
        if (starts_3 && accepts_3) begin
            assert(checked[7] == fits_3 && checked[8] == closes_3 && checked[9] == poisoned_3);
            if (fits_3) assert(checked[18:12] == dword_3 && checked[29:19] == payload_3);
        end
        if (checked_valid && checked_first) assert(starts_3);
        // What makes these true after any number of cycles.
        assert(\block.valid$0$q == valid_1 && \block.valid$1$q == valid_2);
        assert(\block.first$0$q == first_1 && \block.first$1$q == first_2);
        assert(\block.in_packet$q == in_packet);
        assert(\block.owed$q [tag] == owed);
        if (owed) begin
            assert(next <= last);
            assert(\block.begun$q [tag] == begun);
            assert(\block.spans.watched_data [17:9] == last);
            if (begun) assert(next == { \block.progress.watched_data , 2'b0});
            else assert(\block.spans.watched_data [8:0] == next);
        end
        if (valid_1) begin
            assert(\block.fields$q == {header_1[95:80], header_1[79:72], header_1[70:64],
                header_1[47:45], header_1[43:32], header_1[9:0], header_1[14], header_1[30],
                header_1[31:24] == 8'h4a || header_1[31:24] == 8'h0a});
        end
        if (starts) begin
            assert(due[2:0] == {header_2[14], header_2[30], completion});
            assert(due[12:3] == header_2[9:0] - 10'd1 && due[24:13] == header_2[43:32] - 12'd1);
            assert(due[34:25] == {header_2[70:64], header_2[47:45]});
            assert(due[40:35] == header_2[75:72]);
            assert(due[41] == (completion && header_2[95:80] == device_id && header_2[79:76] == 0));
        end
        if (mine) begin
            assert(due[42] == was_owed);
            assert((owed && !fresh) == (was_owed && !(due[68] && \block.closed$q )));
            assert(due[68] == was_mine);
            if (was_owed) begin
                assert(due[51:43] == {was_next[1:0], was_next[8:2]});
                assert(due[58:52] == was_last[8:2] - was_next[8:2]);
                assert(due[67:59] == was_last - was_next);
            end
            if (was_owed && was_moved && owed && !fresh) begin
                assert(due[75:69] == next[8:2] && next[1:0] == 0);
                assert(due[82:76] == last[8:2] - next[8:2] && due[91:83] == last - next);
            end
            if (was_owed && was_mine) assert(\block.closed$q == was_closed);
            if (was_mine) assert(\block.misfit$q == !was_moved);
        end
        if (was_owed && owed && !fresh) begin
            assert(last == was_last);
            if (!was_moved) assert(next == was_next);
        end
    end
endmodule
