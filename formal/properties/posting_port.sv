// Each doorbell has one outcome: the pool entry at the queue's tail and, in a later cycle, the tail
// after it, once each and with what was written to the port before; or nothing but a pulse of the
// counter that says why. It ends six cycles after the port has the memories of the queues, and
// writes only while it has them. Without a doorbell nothing is written.
//
// A queue is what its memories hold: any shape, tail and expected MSN, that stay as they are while
// the port has the memories. What is read two cycles after its address is that.
module properties(
    input clock, input reset, input [9:0] address, input [31:0] data, input write, input granted,
    input [`BITS_queue_now-1:0] queue_now, input [`BITS_queue_now-1:0] contents
);
    wire busy, wants, done, closed, full;
    wire [`BITS_writes-1:0] writes;
    `BLOCK block(
        .clock(clock), .reset(reset), .address(address), .data(data), .write(write), .busy(busy),
        .wants(wants), .granted(granted), .done(done), .queue_now(queue_now), .writes(writes),
        .closed(closed), .full(full)
    );
    localparam POST_0 = 10'h44, POST = 10'h47;
    localparam IDLE = 0, ASK = 1, FETCH = 2, WEIGH = 3, DECIDE = 4, POOL = 5, TAIL = 6;
    wire [11:0] queue = writes[11:0];
    wire [10:0] entry = writes[22:12];
    wire [15:0] tail_msn = writes[38:23];
    wire [98:0] buffer = writes[137:39];
    wire writes_pool = writes[138], writes_tail = writes[139];
    wire [10:0] first = contents[10:0];
    wire [3:0] entries_log2 = contents[14:11];
    wire is_open = contents[15];
    wire [15:0] tail = contents[31:16], expected = contents[47:32];
    wire [15:0] entries = 16'd1 << entries_log2;
    wire [15:0] posted = tail - expected;
    wire is_full = posted >= entries;
    wire [15:0] place = tail & (entries - 16'd1);

    // What the driver has written, and the post under way.
    reg [95:0] words = 0;
    reg pending = 0, pool_written = 0, tail_written = 0;
    reg [11:0] queue_rung = 0;
    reg [2:0] high_rung = 0;
    reg started = 0, granted_before = 0, done_before = 0, reset_before = 0, pending_before = 0;
    reg granted_two_before = 0;
    reg [11:0] queue_before = 0, queue_two_before = 0;
    reg [`BITS_queue_now-1:0] contents_before = 0;
    reg [2:0] granted_for = 0;
    always @(posedge clock) begin
        started <= 1;
        reset_before <= reset;
        granted_before <= granted && !reset;
        granted_two_before <= granted_before && !reset;
        queue_before <= queue;
        queue_two_before <= queue_before;
        done_before <= done;
        pending_before <= pending && !reset;
        contents_before <= contents;
        granted_for <= granted && !done && !reset ? granted_for + 3'd1 : 3'd0;
        if (write && address == POST_0) words[31:0] <= data;
        if (write && address == POST_0 + 1) words[63:32] <= data;
        if (write && address == POST_0 + 2) words[95:64] <= data;
        if (write && address == POST) begin
            pending <= 1;
            queue_rung <= data[11:0];
            high_rung <= data[18:16];
        end
        if (writes_pool) pool_written <= 1;
        if (writes_tail) tail_written <= 1;
        if (done) {pending, pool_written, tail_written} <= 0;
        if (reset) {pending, pool_written, tail_written, words} <= 0;
    end
    always @(*) begin
        if (!started) assume(reset);
        // No access comes while a post is under way (access_hold.sv), and none is a queue of more
        // entries than the pool has.
        if (busy) assume(!write);
        assume(entries_log2 <= 11);
        // The memories are lent when they are asked for, until they are given back (table_port.sv).
        if (granted && !granted_before) assume(wants);
        if (granted_before) assume(granted == !done_before);
        if (granted_before) assume(contents == contents_before);
        if (granted_two_before && queue_two_before == queue_rung) assume(queue_now == contents);
        if (started && !reset && !reset_before) begin
            assert(busy == pending);
            if (writes_pool || writes_tail || done || closed || full) assert(granted && pending);
            if (writes_pool) assert(is_open && !is_full && !pool_written && !tail_written);
            if (writes_pool) assert(entry == first + place[10:0]);
            if (writes_pool) assert(buffer == {high_rung, words});
            if (writes_tail) assert(pool_written && !tail_written && !writes_pool);
            if (writes_tail) assert(queue == queue_rung && tail_msn == tail + 16'd1);
            if (closed) assert(done && !is_open);
            if (full) assert(done && is_open && is_full);
            if (closed || full) assert(!pool_written && !writes_pool && !writes_tail);
            if (done) assert(closed + full + writes_tail == 1);
            if (pending_before && !done_before) assert(pending);
            assert(granted_for <= 5);
            if (granted_for == 5) assert(done);
            // What goes on from cycle to cycle.
            assert(\block.state$q <= TAIL && pending == (\block.state$q != IDLE));
            assert(wants == (\block.state$q == ASK));
            assert({\block.words$2$q , \block.words$1$q , \block.words$0$q } == words);
            if (pending) assert(\block.queue$q == queue_rung && \block.offset_high$q == high_rung);
            if (\block.state$q > ASK) assert(granted && granted_before);
            if (\block.state$q <= ASK) assert(granted_for == 0);
            if (\block.state$q > ASK) assert(granted_for == \block.state$q - 3'd1);
            if (\block.state$q >= WEIGH) assert(granted_two_before && queue_two_before == queue);
            if (\block.state$q == FETCH) assert(queue_before == queue);
            if (\block.state$q == DECIDE) begin
                assert(\block.is_open$q == is_open && \block.first$q == first);
                assert(\block.mask$q == entries - 16'd1 && \block.tail$q == tail);
                assert(\block.posted$q == posted);
            end
            if (\block.state$q >= POOL) assert(is_open && !is_full);
            if (\block.state$q >= POOL) assert(\block.next_tail$q == tail + 16'd1);
            if (\block.state$q == POOL) assert(\block.entry$q == first + place[10:0]);
            assert(pool_written == (\block.state$q == TAIL) && !tail_written);
        end
    end
    (* hierconn *) wire [2:0] \block.state$q ;
    (* hierconn *) wire [31:0] \block.words$0$q ;
    (* hierconn *) wire [31:0] \block.words$1$q ;
    (* hierconn *) wire [31:0] \block.words$2$q ;
    (* hierconn *) wire [11:0] \block.queue$q ;
    (* hierconn *) wire [2:0] \block.offset_high$q ;
    (* hierconn *) wire \block.is_open$q ;
    (* hierconn *) wire [10:0] \block.first$q ;
    (* hierconn *) wire [10:0] \block.mask$q ;
    (* hierconn *) wire [15:0] \block.tail$q ;
    (* hierconn *) wire [15:0] \block.posted$q ;
    (* hierconn *) wire [10:0] \block.entry$q ;
    (* hierconn *) wire [15:0] \block.next_tail$q ;
endmodule
