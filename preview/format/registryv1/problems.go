package registryv1

import (
	"errors"
	"fmt"
	"strings"
)

// Limits on what a broken bundle can make the error say.
const (
	maxProblems    = 20
	maxProblemText = 600 // bytes
)

// problems collects sentences about what is wrong with a bundle or its parameters. The
// first 20 are kept and the rest counted, because a hostile bundle may have millions.
type problems struct {
	list []error
	more int
}

func (p *problems) add(format string, args ...any) {
	if len(p.list) == maxProblems {
		p.more++
		return
	}
	text := fmt.Sprintf(format, args...)
	if len(text) > maxProblemText {
		text = strings.ToValidUTF8(text[:maxProblemText], "") + "…"
	}
	p.list = append(p.list, errors.New(text))
}

// err returns the sentences as one error, each on a line; nil if there are none.
func (p *problems) err() error {
	list := p.list
	if p.more > 0 {
		list = append(list[:len(list):len(list)], fmt.Errorf("and %d more errors", p.more))
	}
	return errors.Join(list...)
}
