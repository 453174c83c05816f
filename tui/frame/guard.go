package frame

import (
	"errors"
	"fmt"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// panicGuard is a model that records a panic of the model in it, or of its
// commands. The library prints a panic only from a goroutine, and the process
// may end before that.
type panicGuard struct {
	tea.Model

	mu   sync.Mutex
	with string
}

// Update passes a message to the model, and guards the command that it returns.
func (g *panicGuard) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer g.note()
	m, cmd := g.Model.Update(msg)
	g.Model = m
	return g, g.cmd(cmd)
}

// Init guards the model's first command.
func (g *panicGuard) Init() tea.Cmd {
	defer g.note()
	return g.cmd(g.Model.Init())
}

// View draws the model.
func (g *panicGuard) View() tea.View {
	defer g.note()
	return g.Model.View()
}

func (g *panicGuard) cmd(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer g.note()
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = g.cmd(batch[i])
			}
		}
		return msg
	}
}

// note records a panic and lets it continue. It must be deferred.
func (g *panicGuard) note() {
	r := recover()
	if r == nil {
		return
	}
	g.mu.Lock()
	g.with = textsafe.Line(fmt.Sprint(r))
	g.mu.Unlock()
	panic(r)
}

// err returns err with the value of a recorded panic added, if there was one.
func (g *panicGuard) err(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if errors.Is(err, tea.ErrProgramPanic) && g.with != "" {
		return fmt.Errorf("%w: %s", err, g.with)
	}
	return err
}
