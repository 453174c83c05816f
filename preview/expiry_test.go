package preview

import (
	"testing"
	"time"
)

func TestAPlanExpiresAtItsTimeAndNotBefore(t *testing.T) {
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	sealed := ExpiryText(at.Add(300 * time.Millisecond).In(time.FixedZone("x", 3600)))
	for name, c := range map[string]struct {
		expires string
		now     time.Time
		want    string
	}{
		"without an expiry":         {"", at, ""},
		"a second before":           {sealed, at.Add(-time.Second), ""},
		"at the very time":          {sealed, at, "the plan expired at 2026-11-22T10:00:00Z, and by this machine's clock it is 2026-11-22T10:00:00Z"},
		"long after":                {sealed, at.AddDate(1, 0, 0), "the plan expired at 2026-11-22T10:00:00Z, and by this machine's clock it is 2027-11-22T10:00:00Z"},
		"with something else":       {"never", at, `its expiry "never" is not a time in UTC`},
		"in another zone":           {"2026-11-22T11:00:00+01:00", at, `its expiry "2026-11-22T11:00:00+01:00" is not a time in UTC`},
		"with parts of a second":    {"2026-11-22T10:00:00.5Z", at, `its expiry "2026-11-22T10:00:00.5Z" is not a time in UTC`},
		"with a day after the last": {"2026-02-30T10:00:00Z", at, `its expiry "2026-02-30T10:00:00Z" is not a time in UTC`},
	} {
		t.Run(name, func(t *testing.T) {
			p := Plan{Options: Options{Expires: c.expires}}
			if got := p.Expired(c.now); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
