package preview

import (
	"fmt"
	"time"
)

// ExpiresAt returns the time until which a plan with these options may be applied; the
// zero time means without end. It errs if Expires is not RFC 3339 in UTC with whole
// seconds.
func (o Options) ExpiresAt() (time.Time, error) {
	if o.Expires == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, o.Expires)
	if err != nil || ExpiryText(at) != o.Expires {
		return time.Time{}, fmt.Errorf("its expiry %.40q is not a time in UTC", o.Expires)
	}
	return at, nil
}

// ExpiryText returns a time as [Options.Expires] has it.
func ExpiryText(at time.Time) string { return at.UTC().Truncate(time.Second).Format(time.RFC3339) }

// Expired returns why a plan can no longer be applied at the time now, by this machine's
// clock; empty if it can.
func (p *Plan) Expired(now time.Time) string {
	at, err := p.Options.ExpiresAt()
	switch {
	case err != nil:
		return err.Error()
	case at.IsZero() || now.Before(at):
		return ""
	}
	return fmt.Sprintf("the plan expired at %s, and by this machine's clock it is %s", ExpiryText(at), ExpiryText(now))
}
