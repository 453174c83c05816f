package plugins

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// maxHolder is how many bytes of a lock file, which names its holder, are read.
const maxHolder = 256

// acquireLock takes the lock of a location until the returned function is called, or
// the process ends. The lock file names its holder. It does not wait: a lock that
// another process holds is an error, because what that changes has to be reviewed.
func (p *locationRoot) acquireLock(holder string, now time.Time) (release func() error, err error) {
	file, err := p.root.OpenFile(p.siblingPath(heldFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of %s: %w", p.location, err)
	}
	taken, err := tryLock(file)
	if taken {
		text, _ := io.ReadAll(io.LimitReader(file, maxHolder)) // only words for a person
		who := strings.TrimSpace(string(text))
		if who == "" {
			who = "another run"
		}
		return nil, errors.Join(fmt.Errorf("%s is changing %s now", who, p.location), file.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", p.location, err), file.Close())
	}
	text := fmt.Sprintf("%s since %s\n", holder, now.UTC().Format(time.RFC3339))
	if err := errors.Join(file.Truncate(0), writeAt(file, text)); err != nil {
		return nil, errors.Join(fmt.Errorf("writing who holds %s: %w", p.location, err), file.Close())
	}
	return file.Close, nil // which unlocks
}

func writeAt(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text), 0)
	return err
}
