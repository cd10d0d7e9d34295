// The board's pins, driven at the rising edge of the core's clock.
//
//   clock --> [ 1 of 5 ] --> clock12 --> board
//   tck, tms, tdi --> JTAGG (by name)   tdo <-- JTAGG (by name)
module rnic (
    input clock, input reset, input button_n, input tck, input tms, input tdi,
    output reg tdo = 1'b0, output [7:0] led_n
);
    localparam REFERENCE_KHZ = 12000;
    reg [2:0] phase = 3'd0;
    always @(posedge clock) phase <= phase == 3'd4 ? 3'd0 : phase + 3'd1;
    wire clock12 = phase < 3'd2;
    board board(.clock12(clock12), .button_n(button_n && !reset), .led_n(led_n));
endmodule
