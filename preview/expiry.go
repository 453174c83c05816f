package preview

import (
	"fmt"
	"time"
)

// ExpiresAt returns until when a plan with these options may be applied, the
// zero time for ever. What is not a time in the form that is sealed (RFC 3339,
// UTC, whole seconds) is an error.
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

// ExpiryText writes a time as it is sealed.
func ExpiryText(at time.Time) string { return at.UTC().Truncate(time.Second).Format(time.RFC3339) }

// Expired says why a plan may not be applied at a time any more; empty when it
// may. The clock is this machine's: there is no other to go by.
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
