// What an untagged segment that passes the offset checks may write lies to the octet in the buffer
// of one pool entry: the one that the queue's shape and the MSN name, first + (MSN mod entries).
//
// Any queue and any pool entry (`watched_*`) are observed, whatever the driver writes. A read that
// meets a write is left out: table_gaps.sv proves that none is used. Whether a buffer is posted for
// the MSN, and the queue open, verdict.sv asks for.
module properties(
    input clock, input [11:0] queue, input [31:0] msn, input [31:0] mo, input [32:0] mo_end,
    input has_payload, input write_shape, input [11:0] shape_queue,
    input [`BITS_shape-1:0] shape, input write_buffer, input [10:0] buffer_entry,
    input [`BITS_buffer-1:0] buffer
);
    wire is_open, mo_bad, too_long;
    wire [10:0] entry;
    wire [63:0] address;
    wire [`BITS_buffer-1:0] stored;
    `BLOCK block(
        .clock(clock), .queue(queue), .msn(msn), .is_open(is_open), .entry(entry), .mo(mo),
        .mo_end(mo_end), .has_payload(has_payload), .mo_bad(mo_bad), .too_long(too_long),
        .address(address), .stored(stored), .write_shape(write_shape), .shape_queue(shape_queue), .shape(shape),
        .write_buffer(write_buffer), .buffer_entry(buffer_entry), .buffer(buffer)
    );
    (* hierconn *) wire [11:0] \block.shapes.watched_address ;
    (* hierconn *) wire [15:0] \block.shapes.watched_data ;
    (* hierconn *) wire [10:0] \block.buffers.watched_address ;
    (* hierconn *) wire [98:0] \block.buffers.watched_data ;
    wire [11:0] watched_queue = \block.shapes.watched_address ;
    wire [10:0] watched_entry = \block.buffers.watched_address ;
    wire shape_written = write_shape && shape_queue == watched_queue;
    wire buffer_written = write_buffer && buffer_entry == watched_entry;

    // The tables as the driver wrote them.
    reg [15:0] shape_now = 0;
    reg [98:0] buffer_now = 0;
    // Cycles after a read of the watched queue, and of the watched entry.
    reg queue_1 = 0, queue_2 = 0, queue_3 = 0, entry_1 = 0, entry_2 = 0, entry_3 = 0;
    reg [15:0] shape_1 = 0, shape_2 = 0, shape_3 = 0;
    reg [98:0] buffer_1 = 0, buffer_2 = 0, buffer_3 = 0;
    reg [31:0] msn_3 = 0, mo_3 = 0;
    reg [32:0] mo_end_3 = 0;
    reg has_payload_3 = 0;
    always @(posedge clock) begin
        if (shape_written) shape_now <= shape;
        if (buffer_written) buffer_now <= buffer;
        {queue_3, queue_2, queue_1} <= {queue_2, queue_1, queue == watched_queue && !shape_written};
        {entry_3, entry_2, entry_1} <= {entry_2, entry_1, entry == watched_entry && !buffer_written};
        {shape_3, shape_2, shape_1} <= {shape_2, shape_1, shape_now};
        {buffer_3, buffer_2, buffer_1} <= {buffer_2, buffer_1, buffer_now};
        {msn_3, mo_3, mo_end_3, has_payload_3} <= {msn, mo, mo_end, has_payload};
    end
    wire [11:0] entries = 12'd1 << (shape_3[14:11] < 11 ? shape_3[14:11] : 11);
    wire [63:0] begins = buffer_3[63:0];
    wire [31:0] octets = buffer_3[95:64];
    // Where the payload lies in the buffer.
    wire [63:0] offset = address - begins;
    wire [32:0] payload = mo_end_3 - mo_3;
    always @(*) begin
        // Header decode adds the payload to MO in 33 bits, and finds whether there is any.
        assume(mo_end >= mo && has_payload == (mo_end != mo));
        assert(\block.shapes.watched_data == shape_now);
        assert(\block.buffers.watched_data == buffer_now);
        if (queue_3) begin
            assert(is_open == shape_3[15]);
            assert(entry == ((shape_3[10:0] + (msn_3 & (entries - 1))) & 11'h7ff));
        end
        // An outstanding read is taken from here.
        if (entry_2) assert(stored == buffer_2);
        if (entry_3) begin
            // RFC 5041 7.1: with payload MO is an octet of the buffer, without it may be its end.
            assert(mo_bad == (has_payload_3 ? mo_3 >= octets : mo_3 > octets));
            assert(too_long == (mo_end_3 > octets));
            assert(offset == mo_3);
            if (!mo_bad && !too_long) assert(offset + payload <= octets);
        end
    end
endmodule
