package helm

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"text/template"
	"time"
	_ "time/tzdata" // the same zones on every machine, and where no file may be read
)

// seedSize is the size in bytes of the key that the random values are derived from.
const seedSize = 32

// probeShift is how much later the clock of the second rendering is: enough to change
// every part of a date.
const probeShift = (400*24+11)*time.Hour + 23*time.Minute + 17*time.Second

// maxRandom is the most characters of one random text that a template can ask for.
const maxRandom = 1 << 20

// valueSource is the clock and the random source of a rendering. Its values are derived
// from the request, so that repeated renderings, with only more answers to lookups,
// agree. With probe set, every value is another one.
type valueSource struct {
	now    time.Time
	stream cipher.Stream
	probe  bool
	texts  bool // with probe, random texts are others too
	chance bool // whether the clock was asked, or a random number or order
}

func newSource(req *request) (*valueSource, error) {
	block, err := aes.NewCipher(req.Seed)
	if err != nil {
		return nil, err
	}
	s := &valueSource{now: req.Now, probe: req.Probe, texts: req.Probe && !req.SameTexts, stream: cipher.NewCTR(block, make([]byte, aes.BlockSize))} //nolint:gosec // a stream of numbers from its own key, nothing is encrypted
	if s.probe {
		s.now = s.now.Add(probeShift)
	}
	return s, nil
}

// funcs returns replacements for the sprig functions that read a clock, a random source
// or the order of a map. Keys and certificates still come from sprig, and differ each
// time.
func (s *valueSource) funcs() template.FuncMap {
	date := func(format string, at any) string { return s.date(format, at, "Local") }
	html := func(at any) string { return s.date(time.DateOnly, at, "Local") }
	htmlInZone := func(at any, zone string) string { return s.date(time.DateOnly, at, zone) }
	return template.FuncMap{
		"now":            s.clock,
		"ago":            s.ago,
		"date":           date,
		"date_in_zone":   s.date,
		"dateInZone":     s.date,
		"htmlDate":       html,
		"htmlDateInZone": htmlInZone,
		"durationRound":  s.durationRound,

		"randAlphaNum": func(n int) (string, error) { return s.text(n, letters+digits) },
		"randAlpha":    func(n int) (string, error) { return s.text(n, letters) },
		"randNumeric":  func(n int) (string, error) { return s.text(n, digits) },
		"randAscii":    func(n int) (string, error) { return s.text(n, printable()) },
		"randBytes":    s.base64,
		"randInt":      s.between,
		"shuffle":      s.shuffle,
		"uuidv4":       s.uuid,

		"keys": sortedKeys, "values": sortedValues,
	}
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

func printable() string {
	var all []byte
	for c := byte(' '); c <= '~'; c++ {
		all = append(all, c)
	}
	return string(all)
}

func (s *valueSource) clock() time.Time {
	s.chance = true
	return s.now
}

// bytes returns random bytes.
func (s *valueSource) bytes(n int) []byte {
	out := make([]byte, n)
	s.stream.XORKeyStream(out, out)
	return out
}

// below returns a random number in [0, n). Another one is one higher, n becoming 0.
func (s *valueSource) below(n int64, another bool) int64 {
	if n <= 1 {
		return 0
	}
	// 64 bits more than needed leave no bias that matters.
	v := new(big.Int).SetBytes(s.bytes(16))
	i := v.Mod(v, big.NewInt(n)).Int64()
	if another {
		i = (i + 1) % n
	}
	return i
}

func (s *valueSource) text(n int, from string) (string, error) {
	if n < 0 || n > maxRandom {
		return "", fmt.Errorf("a random text of %d characters", n)
	}
	out := make([]byte, n)
	for i := range out {
		out[i] = from[s.below(int64(len(from)), s.texts)]
	}
	return string(out), nil
}

func (s *valueSource) raw(n int) []byte {
	out := s.bytes(n)
	if s.texts {
		for i := range out {
			out[i] ^= 0xff
		}
	}
	return out
}

func (s *valueSource) base64(n int) (string, error) {
	if n < 0 || n > maxRandom {
		return "", fmt.Errorf("%d random bytes", n)
	}
	return base64.StdEncoding.EncodeToString(s.raw(n)), nil
}

func (s *valueSource) between(low, high int) (int, error) {
	if high <= low {
		return 0, fmt.Errorf("a random number from %d to less than %d", low, high)
	}
	s.chance = s.chance || high-low > 1
	return low + int(s.below(int64(high)-int64(low), s.probe)), nil
}

// shuffle returns the characters of text in random order. With probe, the first one
// then moves to the end.
func (s *valueSource) shuffle(text string) string {
	runes := []rune(text)
	s.chance = s.chance || len(runes) > 1
	for i := len(runes) - 1; i > 0; i-- {
		j := s.below(int64(i)+1, false)
		runes[i], runes[j] = runes[j], runes[i]
	}
	if s.probe && len(runes) > 1 {
		runes = append(runes[1:], runes[0])
	}
	return string(runes)
}

func (s *valueSource) uuid() string {
	b := s.raw(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // RFC 9562 version 4
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// at returns the time that v, a value of one of the types that sprig accepts, stands
// for; another type means now.
func (s *valueSource) at(v any) time.Time {
	switch v := v.(type) {
	case time.Time:
		return v
	case *time.Time:
		if v != nil {
			return *v
		}
	case int64:
		return time.Unix(v, 0)
	case int:
		return time.Unix(int64(v), 0)
	case int32:
		return time.Unix(int64(v), 0)
	}
	return s.clock()
}

// date formats a date. The local time zone is UTC on every machine.
func (s *valueSource) date(format string, v any, zone string) string {
	location := time.UTC
	if zone != "Local" {
		if found, err := time.LoadLocation(zone); err == nil {
			location = found
		}
	}
	return s.at(v).In(location).Format(format)
}

func (s *valueSource) ago(v any) string { return s.clock().Sub(s.at(v)).Round(time.Second).String() }

// durationRound returns the largest unit of a duration, as sprig does.
func (s *valueSource) durationRound(v any) string {
	var d time.Duration
	switch v := v.(type) {
	case string:
		d, _ = time.ParseDuration(v)
	case int64:
		d = time.Duration(v)
	case time.Time:
		d = s.clock().Sub(v)
	}
	const day = 24 * time.Hour
	for _, unit := range []struct {
		is   time.Duration
		name string
	}{{365 * day, "y"}, {30 * day, "mo"}, {day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if n := d.Abs(); n > unit.is {
			return fmt.Sprintf("%d%s", n/unit.is, unit.name)
		}
	}
	return "0s"
}

func sortedKeys(dicts ...map[string]any) []string {
	all := []string{}
	for _, dict := range dicts {
		all = append(all, slices.Sorted(maps.Keys(dict))...)
	}
	return all
}

func sortedValues(dict map[string]any) []any {
	all := []any{}
	for _, key := range slices.Sorted(maps.Keys(dict)) {
		all = append(all, dict[key])
	}
	return all
}
