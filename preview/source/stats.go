package source

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
)

// statIndex has the hash of each file of a directory with the file's metadata at that
// time, as git's index does. A file with the same metadata is not read again.
//
// It relies on the clock of the machine, which a program that changes a file must not
// set back, since the time of a file's last change cannot be set, and on its own file,
// which is sealed with the store's key. A file that changed just before it was hashed
// may change again within the same tick of the file system's clock, so that its entry
// is not used.
type statIndex struct {
	entries map[string]statEntry
	seen    map[string]bool
	fresh   bool // something was hashed
}

// statEntry is the hash of one file and the metadata that the file had.
type statEntry struct {
	stat   fileStat
	hashed int64 // when that began, in ns
	sum    [sha256.Size]byte
}

// fileStat has the metadata of a file; some of it changes whenever its content does.
type fileStat struct {
	size, modified, changed int64 // times in ns
	device, inode           uint64
}

// How long the tick of a file system's clock may be: the kernel's for one that keeps
// parts of a second, else the tick of FAT, the coarsest.
const (
	fineTick   = int64(100 * time.Millisecond)
	coarseTick = int64(2 * time.Second)
)

// settled reports whether a file was hashed so long after its last change that the
// entry can be used. It is false on a system that does not record the time of a change.
func (e statEntry) settled() bool {
	if e.stat.changed == 0 {
		return false
	}
	last, tick := max(e.stat.modified, e.stat.changed), fineTick
	if last%int64(time.Second) == 0 {
		tick = coarseTick
	}
	return last+tick < e.hashed
}

func (s *statIndex) sum(name string, info fs.FileInfo) ([sha256.Size]byte, bool) {
	e, ok := s.entries[name]
	ok = ok && e.stat == statOf(info) && e.settled()
	s.seen[name] = s.seen[name] || ok
	return e.sum, ok
}

func (s *statIndex) note(name string, info fs.FileInfo, sum [sha256.Size]byte, hashed time.Time) {
	s.entries[name] = statEntry{statOf(info), hashed.UnixNano(), sum}
	s.seen[name], s.fresh = true, true
}

const statsMagic = "kubectl-operator stats 1\n"

// statsBytes is the largest size in bytes of a stored index: a catalog may have 100,000
// files.
const statsBytes = 32 * bounded.MiB

func statsName(dir string) (string, error) {
	place, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(place))
	return hex.EncodeToString(sum[:]) + ".stats-1", nil
}

// loadStats returns the stored index of a directory; an empty one if that is missing,
// damaged or written by another user.
func loadStats(store diskcache.Store, dir string) *statIndex {
	s := &statIndex{entries: map[string]statEntry{}, seen: map[string]bool{}}
	name, err := statsName(dir)
	if err != nil {
		return s
	}
	file, err := store.Open(name)
	if err != nil {
		return s
	}
	defer func() { _ = file.Close() }()
	data, err := bounded.ReadAll(file, statsBytes)
	if err != nil || len(data) < sha256.Size {
		return s
	}
	body, seal := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if hmac.Equal(seal, sealStats(store, name, body)) {
		s.decode(body)
	}
	return s
}

// save stores the index if it changed. An error is ignored: then the files are hashed
// again.
func (s *statIndex) save(store diskcache.Store, dir string) {
	name, err := statsName(dir)
	if err != nil || !s.fresh && len(s.seen) == len(s.entries) {
		return
	}
	body := s.encode(nil)
	_ = store.Create(name, func(w io.Writer) error {
		_, err := w.Write(append(body, sealStats(store, name, body)...))
		return err
	})
}

func sealStats(store diskcache.Store, name string, body []byte) []byte {
	mac := hmac.New(sha256.New, store.Key())
	mac.Write([]byte(statsMagic + name + "\n"))
	mac.Write(body)
	return mac.Sum(nil)
}

// encode appends the entries of the files that still exist.
func (s *statIndex) encode(out []byte) []byte {
	for name := range s.seen {
		e, ok := s.entries[name]
		if !ok {
			continue
		}
		out = append(binary.AppendUvarint(out, uint64(len(name))), name...)
		for _, n := range []uint64{
			uint64(e.stat.size), uint64(e.stat.modified), uint64(e.stat.changed), e.stat.device, e.stat.inode, uint64(e.hashed),
		} {
			out = binary.BigEndian.AppendUint64(out, n)
		}
		out = append(out, e.sum[:]...)
	}
	return out
}

// decode adds the entries that encode wrote. The caller has verified their HMAC.
func (s *statIndex) decode(data []byte) {
	const fixed = 6*8 + sha256.Size
	for len(data) > 0 {
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)) || len(data)-n-int(size) < fixed {
			return
		}
		name := string(data[n : n+int(size)])
		data = data[n+int(size):]
		number := func(i int) uint64 { return binary.BigEndian.Uint64(data[8*i:]) }
		s.entries[name] = statEntry{
			stat:   fileStat{int64(number(0)), int64(number(1)), int64(number(2)), number(3), number(4)},
			hashed: int64(number(5)), sum: [sha256.Size]byte(data[6*8 : fixed]),
		}
		data = data[fixed:]
	}
}
