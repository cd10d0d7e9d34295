// No page is ever owned twice, and none is lost.
//
//   fresh -> pushed -> listed -> fetched -> out -> ready -> owned -> returning -> pushed ...
//
// One page, any one (`page`), is followed through these places; which one comes next depends on
// nothing but how many pages are before it. It is in exactly one of them at any time; in every
// place that another page could be in, it is not. Chains are given back by their owners: `holds`
// says whether the page is one of a chain, and the releaser is assumed to find by the links what
// the owner wrote there; a separate proof shows that it follows the links as written.
module properties(
    input clock, input reset, input alloc_take,
    input link_write, input [8:0] link_page, input [8:0] link_next,
    input [`BITS_own_release-1:0] own_release, input own_release_valid,
    input [`BITS_own_release-1:0] release0, input release0_valid,
    input [`BITS_own_release-1:0] release1, input release1_valid,
    input [`BITS_own_release-1:0] release2, input release2_valid,
    input [`BITS_own_release-1:0] release3, input release3_valid
);
    wire [8:0] alloc_page;
    wire alloc_valid, own_release_room;
    wire release0_ready, release1_ready, release2_ready, release3_ready;
    wire [9:0] free_pages;
    `BLOCK block(
        .clock(clock), .reset(reset), .alloc_page(alloc_page), .alloc_valid(alloc_valid),
        .alloc_take(alloc_take), .link_write(link_write), .link_page(link_page),
        .link_next(link_next), .own_release(own_release), .own_release_valid(own_release_valid),
        .own_release_room(own_release_room),
        .release0(release0), .release0_valid(release0_valid), .release0_ready(release0_ready),
        .release1(release1), .release1_valid(release1_valid), .release1_ready(release1_ready),
        .release2(release2), .release2_valid(release2_valid), .release2_ready(release2_ready),
        .release3(release3), .release3_valid(release3_valid), .release3_ready(release3_ready),
        .free_pages(free_pages)
    );
    (* hierconn *) wire [8:0] \block.free.watched_address ;
    (* hierconn *) wire [8:0] \block.free.watched_data ;
    (* hierconn *) wire [8:0] \block.free.read_now ;
    (* hierconn *) wire [8:0] \block.free.fetched ;
    (* hierconn *) wire [8:0] \block.free.read_data ;
    (* hierconn *) wire [8:0] \block.next.watched_address ;
    (* hierconn *) wire [8:0] \block.next.watched_data ;
    (* hierconn *) wire [8:0] \block.next.fetched ;
    (* hierconn *) wire [8:0] \block.next.read_data ;
    (* hierconn *) wire [2:0] \block.prefetch.memory.watched_address ;
    (* hierconn *) wire [8:0] \block.prefetch.memory.watched_data ;
    (* hierconn *) wire [8:0] \block.prefetch.memory.read_data ;
    (* hierconn *) wire [2:0] \block.prefetch.write_pointer$q ;
    (* hierconn *) wire [2:0] \block.prefetch.read_pointer$q ;
    (* hierconn *) wire [3:0] \block.prefetch.count$q ;
    (* hierconn *) wire \block.prefetch.waits$q ;
    (* hierconn *) wire \block.prefetch.is_full$q ;
    (* hierconn *) wire [9:0] \block.write_pointer$q ;
    (* hierconn *) wire [9:0] \block.read_pointer$q ;
    (* hierconn *) wire \block.issue ;
    (* hierconn *) wire \block.fetching$q ;
    (* hierconn *) wire \block.fetched$q ;
    (* hierconn *) wire [3:0] \block.ahead$q ;
    (* hierconn *) wire [8:0] \block.pushed$q ;
    (* hierconn *) wire \block.pushed_valid$q ;
    (* hierconn *) wire [2:0] \block.state$q ;
    (* hierconn *) wire [8:0] \block.page$q ;
    (* hierconn *) wire [8:0] \block.tail$q ;
    (* hierconn *) wire [4:0] \block.chosen$q ;
    (* hierconn *) wire [17:0] \block.candidate$q ;
    (* hierconn *) wire \block.candidate_valid$q ;
    (* hierconn *) wire \block.own.head_valid$q ;
    (* hierconn *) wire \block.queue$0.head_valid$q ;
    (* hierconn *) wire \block.queue$1.head_valid$q ;
    (* hierconn *) wire \block.queue$2.head_valid$q ;
    (* hierconn *) wire \block.queue$3.head_valid$q ;
    localparam INITIALISE = 0, IDLE = 1, FREE = 2, READ = 3, STEP = 4;
    localparam FRESH = 0, PUSHED = 1, LISTED = 2, FETCHED = 3, OUT = 4, READY = 5, OWNED = 6;
    localparam RETURNING = 7;

    reg ran = 0;
    always @(posedge clock) ran <= 1;
    always @(*) if (!ran) assume(reset);

    (* anyconst *) wire [8:0] page;
    reg [2:0] place = FRESH;
    // Pages before it, listed or ready.
    reg [9:0] front = 0;
    reg [9:0] owned = 0;
    wire [9:0] listed = \block.write_pointer$q - \block.read_pointer$q ;
    wire [3:0] ready = \block.prefetch.count$q ;
    wire initialise = \block.state$q == INITIALISE;
    wire frees = \block.state$q == FREE;
    // The owners give the page back in the chain that is taken now; one of them at a time has it.
    (* anyseq *) wire holds;
    wire gives = (own_release_valid && own_release_room)
        || (release0_valid && release0_ready) || (release1_valid && release1_ready)
        || (release2_valid && release2_ready) || (release3_valid && release3_ready);
    always @(*) begin
        if (!alloc_valid) assume(!alloc_take);
        if (holds) assume(gives && place == OWNED);
        // The chains of owners: only pages that are theirs.
        if (frees) assume(owned != 0);
        if (frees && \block.page$q == page) assume(place == RETURNING);
        if (link_write && ran)
            assume(link_page != \block.page$q || \block.state$q == IDLE || initialise);
    end
    always @(posedge clock) begin
        owned <= owned + (alloc_take && alloc_valid) - frees;
        case (place)
            FRESH: if (initialise && \block.page$q == page) place <= PUSHED;
            PUSHED: begin
                place <= LISTED;
                front <= listed - \block.issue ;
            end
            LISTED: if (\block.issue ) begin
                front <= front - 1;
                if (front == 0) place <= FETCHED;
            end
            FETCHED: place <= OUT;
            OUT: begin
                place <= READY;
                front <= ready - alloc_take;
            end
            READY: if (alloc_take) begin
                front <= front - 1;
                if (front == 0) place <= OWNED;
            end
            OWNED: if (holds) place <= RETURNING;
            RETURNING: if (frees && \block.page$q == page) place <= PUSHED;
        endcase
        if (reset) begin
            place <= FRESH;
            owned <= 0;
        end
    end

    wire [5:0] under_way = \block.fetching$q + \block.fetched$q + ready;
    wire [11:0] somewhere = listed + \block.pushed_valid$q + \block.ahead$q + owned;

    // What a memory has at an address, by where the page is.
    wire [9:0] listed_at = \block.read_pointer$q + front;
    wire [8:0] watched_front = \block.free.watched_address - \block.read_pointer$q [8:0];
    wire [2:0] ready_waiting = ready - (ready != 0);
    wire [2:0] ready_at = \block.prefetch.read_pointer$q + front - 1;
    wire [2:0] ready_front =
        \block.prefetch.memory.watched_address - \block.prefetch.read_pointer$q ;
    // That holds at any address, so where one is read too; a cycle later it is made use of.
    reg listed_read = 1, ready_read = 1;
    always @(posedge clock) begin
        listed_read <= reset || listed == 0
            || ((\block.free.read_now == page) == (place == LISTED && front == 0));
        ready_read <= reset || !\block.prefetch.waits$q
            || ((\block.prefetch.memory.read_data == page) == (place == READY && front == 1));
    end
    always @(*) if (ran) begin
        // Left out of broken designs, where it need not hold: it would hide what they do.
`ifndef BROKEN
        assume(listed_read && ready_read);
`endif
        // Owned once: an offered page has no owner. Not lost: the page is in the place that `place`
        // names.
        if (alloc_valid && alloc_page == page) assert(place == READY && front == 0);
        if (place == READY && front == 0) assert(alloc_valid && alloc_page == page);
        assert((\block.pushed_valid$q && \block.pushed$q == page) == (place == PUSHED));
        assert((\block.fetching$q && \block.free.fetched == page) == (place == FETCHED));
        assert((\block.fetched$q && \block.free.read_data == page) == (place == OUT));
        if (watched_front < listed)
            assert((\block.free.watched_data == page)
                == (place == LISTED && front == watched_front));
        if (ready > 1 && ready_front < ready - 1)
            assert((\block.prefetch.memory.watched_data == page)
                == (place == READY && front == ready_front + 1));
        if (place == LISTED) assert(front < listed);
        if (place == READY) assert(front < ready);
        assert((place == FRESH) == (initialise && \block.page$q <= page));
        // All 512 are somewhere.
        assert(free_pages == listed + \block.ahead$q );
        assert(\block.ahead$q == under_way && under_way <= 8);
        assert(somewhere == (initialise ? \block.page$q : 512));
        assert(\block.state$q <= STEP);
        assert(alloc_valid == (ready != 0));
        assert(\block.prefetch.waits$q == (ready > 1));
        assert(\block.prefetch.is_full$q == (ready == 8));
        assert(\block.prefetch.write_pointer$q == \block.prefetch.read_pointer$q + ready_waiting);
    end

    // The releaser: a chain from a queue that has one, its first page, the links, up to the last.
    reg [2:0] state_before = INITIALISE;
    reg [8:0] page_before = 0, tail_before = 0, link_before = 0;
    reg [17:0] candidate_before = 0;
    reg watched_before = 0, reset_before = 1;
    always @(posedge clock) begin
        state_before <= \block.state$q ;
        page_before <= \block.page$q ;
        tail_before <= \block.tail$q ;
        candidate_before <= \block.candidate$q ;
        link_before <= \block.next.watched_data ;
        watched_before <= \block.next.watched_address == \block.page$q ;
        reset_before <= reset;
    end
    wire [4:0] has_chain = {
        \block.own.head_valid$q , \block.queue$3.head_valid$q , \block.queue$2.head_valid$q ,
        \block.queue$1.head_valid$q , \block.queue$0.head_valid$q
    };
    always @(*) if (ran) begin
        assert((\block.chosen$q & (\block.chosen$q - 1)) == 0);
        assert((\block.chosen$q & ~has_chain) == 0);
        if (\block.next.watched_address == \block.page$q ) begin
            if (\block.state$q == READ) assert(\block.next.fetched == \block.next.watched_data );
            if (\block.state$q == STEP) assert(\block.next.read_data == \block.next.watched_data );
        end
        if (!reset_before) begin
            if (state_before == IDLE && \block.state$q == FREE)
                assert({\block.tail$q , \block.page$q } == candidate_before);
            if (state_before == FREE)
                assert((\block.state$q == IDLE) == (page_before == tail_before));
            if (state_before == STEP && watched_before) assert(\block.page$q == link_before);
            if (state_before != IDLE && state_before != INITIALISE)
                assert(\block.tail$q == tail_before);
        end
    end
endmodule
