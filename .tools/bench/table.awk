# The output of "go test -bench -benchmem" as one table: a row for each benchmark, with
# its time, what it allocates, and what it measures besides, such as the peer's time
# in the same run and the ratio of both. Failures are rows too.
BEGIN { printf "%-58s %12s %10s %12s  %s\n", "work", "ms", "MB", "allocations", "measured besides" }
/^Benchmark/ && NF >= 4 {
	work = $1; sub(/^Benchmark/, "", work); sub(/-[0-9]+$/, "", work)
	ms = mb = allocations = "-"; besides = ""
	for (i = 3; i < NF; i += 2) {
		if ($(i+1) == "ns/op") ms = sprintf("%.3f", $i / 1e6)
		else if ($(i+1) == "B/op") mb = sprintf("%.2f", $i / 1048576)
		else if ($(i+1) == "allocs/op") allocations = $i
		else besides = besides (besides == "" ? "" : ", ") $i " " $(i+1)
	}
	printf "%-58s %12s %10s %12s  %s\n", work, ms, mb, allocations, besides
	fflush()
}
/^ *[a-z_]+_test\.go:[0-9]+: / { sub(/^ +/, ""); print "  " $0; fflush() }
/^FAIL\t/ { print "  " $0; fflush() }
