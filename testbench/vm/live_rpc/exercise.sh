# Runs in the guest, in the folder $AT of a mount: prints lines `fact NAME VALUE`.
# $DATA is a file of the host's, $COUNT says how many files are made.
set -e
fact() { echo "fact $1 $2"; }
# Nothing of the mount stays in the guest's memory.
forget() { sync && echo 3 >/proc/sys/vm/drop_caches; }

mkdir "$AT"
# Blocks of this size are neither pages nor a multiple of four.
dd if="$DATA" of="$AT/data" bs=12345 oflag=direct 2>/dev/null
forget
fact read "$(dd if="$AT/data" bs=12345 iflag=direct 2>/dev/null | sha256sum | cut -d ' ' -f 1)"
fact size "$(stat -c %s "$AT/data")"

mkdir "$AT/many"
for i in $(seq "$COUNT"); do echo "$i" >"$AT/many/made-with-a-name-of-some-length-$i"; done
forget
fact made "$(ls "$AT/many" | wc -l)"
for i in $(seq "$COUNT"); do
    mv "$AT/many/made-with-a-name-of-some-length-$i" "$AT/many/renamed-$i"
done
forget
fact renamed "$(ls "$AT/many" | grep -c '^renamed-')"
fact content "$(cat "$AT"/many/* | sort -n | sha256sum | cut -d ' ' -f 1)"
rm "$AT"/many/*
forget
fact left "$(ls "$AT/many" | wc -l)"
rmdir "$AT/many"

path=$(printf '%01000d' 7)
ln -s "$path" "$AT/link"
forget
[ "$(readlink "$AT/link")" = "$path" ] && fact link right || fact link wrong
rm "$AT/link"
