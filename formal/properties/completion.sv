// Each completion entry goes to its place: entry number n of a queue to base + (n mod entries) * 32
// of that queue, as one TLP of 32 octets with the words of its request; and nothing is written that
// has no request, or before its octets have left. A host slot's header goes to the slot that its
// request names, 16 octets. That n is the number of a free entry, cq_numbers.sv proves.
//
// Any one queue is observed (`watched`).
module properties(
    input clock, input reset, input [15:0] device_id, input [`BITS_request-1:0] request,
    input request_valid, input payload_done, input [`BITS_cq_write-1:0] cq_write,
    input tlp_ready
);
    wire request_ready, tlp_last, tlp_valid, entry_written, slot_written;
    wire [31:0] host_ring_producer;
    wire [`BITS_tlp_data-1:0] tlp_data;
    wire [`BITS_tlp_keep-1:0] tlp_keep;
    wire [127:0] tlp_header;
    `BLOCK block(
        .clock(clock), .reset(reset), .device_id(device_id), .request(request),
        .request_valid(request_valid), .request_ready(request_ready),
        .payload_done(payload_done), .cq_write(cq_write),
        .host_ring_producer(host_ring_producer), .tlp_data(tlp_data), .tlp_keep(tlp_keep),
        .tlp_last(tlp_last), .tlp_valid(tlp_valid), .tlp_ready(tlp_ready),
        .tlp_header(tlp_header), .entry_written(entry_written), .slot_written(slot_written)
    );
    (* hierconn *) wire \block.start ;
    (* hierconn *) wire \block.requests$empty ;
    (* hierconn *) wire [`BITS_request-1:0] \block.head ;
    (* hierconn *) wire [1:0] \block.state$q ;
    (* hierconn *) wire [1:0] \block.age$q ;
    (* hierconn *) wire [31:0] \block.base_low$q ;
    (* hierconn *) wire [31:0] \block.base_high$q ;
    (* hierconn *) wire [15:0] \block.index_mask$q ;
    (* hierconn *) wire [32:0] \block.low_sum$q ;
    (* hierconn *) wire [31:0] \block.high_sum$q ;
    (* hierconn *) wire \block.is_done$q ;
    (* hierconn *) wire [6:0] \block.done_count$q ;
    (* hierconn *) wire \block.host$q ;
    (* hierconn *) wire \block.second$q ;
    (* hierconn *) wire [63:0] \block.address$q ;
    (* hierconn *) wire [255:0] \block.words$q ;
    (* hierconn *) wire [3:0] \block.bases_low.watched_address ;
    (* hierconn *) wire [3:0] \block.bases_high.watched_address ;
    (* hierconn *) wire [3:0] \block.sizes.watched_address ;
    (* hierconn *) wire [31:0] \block.bases_low.watched_data ;
    (* hierconn *) wire [31:0] \block.bases_high.watched_data ;
    (* hierconn *) wire [4:0] \block.sizes.watched_data ;
    localparam IDLE = 0, HEAD = 1, SEND = 2;
    wire [3:0] watched = \block.sizes.watched_address ;
    // The request in front (fifo.sv: they come as they were given), and its slot.
    wire start = \block.start ;
    wire host = \block.head [0];
    wire [255:0] words = \block.head [260:5];
    wire [63:0] slot = words[95:32];
    wire in_front = !\block.requests$empty && !host && \block.head [4:1] == watched;

    // Registers of the watched queue as they were written; requests whose octets have left and that
    // have not begun.
    reg [63:0] base = 0;
    reg [4:0] size_log2 = 0;
    reg [6:0] left = 0;
    // The TLP at hand.
    reg busy = 0, of_host = 0, sent_first = 0, known = 0;
    reg [63:0] goes_to = 0;
    reg [255:0] says = 0;
    reg ran = 0;
    wire written = cq_write[3:0] == watched;
    wire ends = tlp_valid && tlp_ready && tlp_last;
    wire [63:0] index = words[254:224] & ((32'd1 << size_log2) - 1);
    wire [63:0] place = base + index * 32;
    always @(posedge clock) begin
        ran <= 1;
        if (written && cq_write[36]) base[31:0] <= cq_write[35:4];
        if (written && cq_write[37]) base[63:32] <= cq_write[35:4];
        if (written && cq_write[38]) size_log2 <= cq_write[8:4];
        left <= left + payload_done - start;
        if (ends) busy <= 0;
        if (tlp_valid && tlp_ready) sent_first <= 1;
        if (start) begin
            busy <= 1;
            sent_first <= 0;
            of_host <= host;
            known <= host || in_front;
            goes_to <= host ? slot : place;
            says <= host ? {128'b0, words[127:96], 64'b0, words[31:0]} : words;
        end
        if (reset) {left, busy} <= 0;
    end
    // What the TLP writes, read from its header.
    wire long_form = tlp_header[29];
    wire [63:0] address = long_form
        ? {tlp_header[95:64], tlp_header[127:98], 2'b0} : {32'b0, tlp_header[95:66], 2'b0};
    always @(*) begin
        if (!ran) assume(reset);
        assume(watched == \block.bases_low.watched_address );
        assume(watched == \block.bases_high.watched_address );
        // The driver's contract (rnic_abi::registers): at most 2^16 entries on a page border; base
        // and size stand while a connection uses the queue. The register file sets one bit at most.
        assume(cq_write[36] + cq_write[37] + cq_write[38] + cq_write[39] <= 3'd1);
        if (cq_write[36]) assume(cq_write[15:4] == 0);
        if (cq_write[38]) assume(cq_write[35:4] <= 16);
        if (written && in_front) assume(cq_write[38:36] == 0);
`ifdef BROKEN
        // A counterexample is looked for among entries alone.
        assume(device_id == 0 && tlp_ready && !host);
`endif
        // At most 127 commands are inside (fence.sv).
        if (left == 127) assume(!payload_done);
        // A slot lies on a border of 128 octets (host_slot.sv).
        if (host) assume(slot[6:0] == 0);
    end
    always @(*) if (ran) begin
        if (start) assert(!\block.requests$empty && left != 0 && !busy);
        if (tlp_valid) begin
            assert(busy && tlp_header[31:30] == 2'b01 && tlp_header[28:10] == 0);
            assert(tlp_header[9:0] == (of_host ? 4 : 8) && tlp_header[39:32] == 8'hff);
            assert(tlp_keep == 4'hf && tlp_last == (of_host || sent_first));
            assert(tlp_data == (sent_first ? says[255:128] : says[127:0]));
            if (known) assert(address == goes_to && long_form == (goes_to >> 32 != 0));
        end
        assert(entry_written == (ends && !of_host) && slot_written == (ends && of_host));
`ifndef BROKEN
        // What makes these true after any number of cycles.
        assert(\block.bases_low.watched_data == base[31:0]);
        assert(\block.bases_high.watched_data == base[63:32]);
        assert(\block.sizes.watched_data == size_log2);
        assert(size_log2 <= 16 && base[11:0] == 0);
        assert(\block.done_count$q == left && \block.is_done$q == (left != 0));
        assert(busy == (\block.state$q != IDLE) && \block.state$q <= SEND);
        if (busy) assert(\block.host$q == of_host && \block.second$q == sent_first);
        if (busy) assert(\block.words$q == says);
        if (busy && known) assert(\block.address$q == goes_to && goes_to[4:0] == 0);
        if (\block.state$q == HEAD) assert(!sent_first);
        // The address follows the request in front stage by stage.
        if (in_front && \block.age$q >= 1) begin
            assert(\block.base_low$q == base[31:0] && \block.base_high$q == base[63:32]);
            assert(\block.index_mask$q == 16'((32'd1 << size_log2) - 1));
        end
        if (in_front && \block.age$q >= 2) assert(\block.low_sum$q == base[31:0] + index * 32);
        if (in_front && \block.age$q == 3) assert(\block.high_sum$q == place[63:32]);
`endif
    end
endmodule
