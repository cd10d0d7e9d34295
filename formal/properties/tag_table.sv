// A tag has one use at a time: it is offered only while the walker has given it back and the last
// completion of its request has come. What is followed is one tag, any one.
module properties(
    input clock, input reset, input link_reset, input extended_tags, input tick,
    input [15:0] timeout_ticks, input issue, input [`BITS_report-1:0] report, input report_valid,
    input [5:0] head_tag, input retire, input [5:0] retire_tag
);
    (* anyconst *) wire [3:0] tag;
    wire [15:0] now;
    wire [5:0] free_tag;
    wire free_valid, starved, late, head_open, head_failed, idle;
    `BLOCK block(
        .clock(clock), .reset(reset), .link_reset(link_reset), .extended_tags(extended_tags),
        .tick(tick), .timeout_ticks(timeout_ticks), .now(now), .free_tag(free_tag),
        .free_valid(free_valid), .starved(starved), .issue(issue), .report(report),
        .report_valid(report_valid), .late(late), .head_tag(head_tag), .head_open(head_open),
        .head_failed(head_failed), .retire(retire), .retire_tag(retire_tag), .idle(idle)
    );
    (* hierconn *) wire [15:0] \block.open$q ;
    (* hierconn *) wire [15:0] \block.owned$q ;
    (* hierconn *) wire [15:0] \block.failed$q ;
    (* hierconn *) wire [3:0] \block.candidate$q ;
    (* hierconn *) wire \block.found$q ;

    // A completion is due; the walker has it; a completion was not good.
    reg open = 0, owned = 0, failed = 0;
    wire issued = issue && free_tag == tag;
    wire reported = report_valid && report[5:0] == tag;
    wire over = reported && report[6];
    wire retired = retire && retire_tag == tag;
    always @(*) begin
        assume(report[5:4] == 0 && head_tag[5:4] == 0 && retire_tag[5:4] == 0);
        // The requester takes what is offered; reports are about open tags (completion_check.sv);
        // the walker gives back what it has, once (part_walker.sv).
        if (issue) assume(free_valid);
        if (reported) assume(open);
        if (retired) assume(owned);
    end
`ifdef BROKEN
    // All tags are issued before one is issued again: the search goes there straight.
    always @(*) assume(issue == free_valid);
`endif
    // At a reset of the link nothing is sent and nothing comes.
    reg [5:0] tag_before = 0;
    reg offered = 0, all_wait = 0;
    always @(posedge clock) begin
        if (issued) {open, owned, failed} <= 3'b110;
        else begin
            if (over) open <= 0;
            if (retired) owned <= 0;
            if (reported && report[7]) failed <= 1;
        end
        if (reset) owned <= 0;
        if (link_reset) {open, owned} <= 0;
        tag_before <= free_tag;
        offered <= free_valid && !issue && !link_reset;
        all_wait <= \block.open$q == 16'hffff && \block.owned$q == 0;
    end
    always @(*) begin
        if (free_valid && free_tag == tag) assert(!open && !owned);
        if (offered) assert(free_valid && free_tag == tag_before);
        assert(free_tag[5:4] == 0);
        if (head_tag == tag) assert(head_open == open);
        if (head_tag == tag && owned) assert(head_failed == failed);
        if (reported) assert(late == !owned);
        if (open) assert(!idle);
        if (starved) assert(all_wait);
        // What makes these true after any number of cycles.
        assert(\block.open$q [tag] == open && \block.owned$q [tag] == owned);
        if (owned) assert(\block.failed$q [tag] == failed);
        if (\block.found$q && \block.candidate$q == tag) assert(!open && !owned);
    end
endmodule
