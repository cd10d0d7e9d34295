    // The first steps that a plan names are those of its beats, and one without a TLP is its
    // command's only one: shaper.sv proves it, mover.sv stands on it.
    function steps_agree(input [59:0] plan);
        reg closes, writes, single, ends_at_last, last_needs_next;
        begin
            closes = plan[0];
            writes = plan[1];
            last_needs_next = plan[53];
            single = plan[48:44] == 0;
            ends_at_last = !closes || plan[34:22] == 0;
            steps_agree = (writes || (closes && single && plan[37:36] == 0)) && plan[35] == (plan[34:22] == 1) && plan[59] == single
                && plan[54] == ends_at_last
                && plan[57] == (!single || last_needs_next)
                && plan[58] == (single && ends_at_last)
                && plan[55] == (writes ? plan[37:36] != 0 || plan[57] : !ends_at_last)
                && plan[56] == (writes ? plan[37:36] == 0 && plan[58]
                    : ends_at_last || plan[35]);
        end
    endfunction
