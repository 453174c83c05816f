package git

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
)

// rawEntry is one entry of a pack as it stands there.
type rawEntry struct {
	kind byte
	base []byte // of a difference
	data []byte
}

// rawPack writes a pack of any entries, honest or not.
func rawPack(out *bytes.Buffer, count int, entries ...rawEntry) {
	out.WriteString("PACK")
	_ = binary.Write(out, binary.BigEndian, []uint32{2, uint32(count)})
	for _, e := range entries {
		size := len(e.data)
		first := e.kind<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			out.WriteByte(first | 0x80)
			first = byte(size & 127)
		}
		out.WriteByte(first)
		out.Write(e.base)
		w := zlib.NewWriter(out)
		_, _ = w.Write(e.data)
		_ = w.Close()
	}
	out.Write(make([]byte, 20)) // the checksum, which no one needs: objects have names
}
