package record

import "fmt"

// bounds limit the size of what is read from records. Users who can write
// Secrets in one namespace can write records there, and administrators read
// them without asking where they come from: 60 kB of gzip may unpack to 60 MiB,
// and those decode to gigabytes of empty objects.
type bounds struct {
	bytes int64 // unpacked
	// items are the elements of lists, and the objects and lists themselves: each
	// may take as much memory as the largest type that is decoded, some 600 bytes.
	items int
	// values are items and the members of objects.
	values int
}

// releaseBounds are the bounds of a record that is read by release name. A
// package has at most 20,000 objects; a record has three items (list elements)
// and twenty values for each.
func releaseBounds() bounds { return bounds{bytes: maxHeaderBytes, items: 250_000, values: 2_000_000} }

// listBounds are the bounds of each record when all releases are listed.
func listBounds() bounds { return bounds{bytes: 4 << 20, items: 25_000, values: 200_000} }

// archiveBounds are the bounds of the first line of a plan archive: the plan
// without the bodies of its objects.
func archiveBounds() bounds { return bounds{bytes: maxArchive, items: 1_500_000, values: 8_000_000} }

// bodyBounds are the bounds of all other lines of a plan archive together.
func bodyBounds() bounds { return bounds{bytes: maxArchive, items: 6_000_000, values: 12_000_000} }

// MaxListed is how many bytes all records of one list together may unpack to.
const MaxListed = 256 << 20

// size is the size of a JSON text, in the items and values of [bounds].
type size struct{ items, values int }

// measure counts the items and values that decoding a JSON text would allocate.
// Invalid JSON gets some count: the decoder reports it.
func measure(data []byte) size {
	var n size
	lists := []bool{false} // of what is open, whether it is a list
	text := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{', c == '[':
			n.items++
			lists = append(lists, c == '[')
		case c == '}', c == ']':
			if len(lists) > 1 {
				lists = lists[:len(lists)-1]
			}
		case c == ',':
			n.values++
			if lists[len(lists)-1] {
				n.items++
			}
		}
	}
	n.values += n.items
	return n
}

func (n *size) add(other size) { n.items, n.values = n.items+other.items, n.values+other.values }

// check returns an error with both numbers if a size exceeds the bounds.
func (n size) check(b bounds) error {
	switch {
	case n.items > b.items:
		return fmt.Errorf("its %d elements are more than the %d it may have", n.items, b.items)
	case n.values > b.values:
		return fmt.Errorf("its %d values are more than the %d it may have", n.values, b.values)
	}
	return nil
}
