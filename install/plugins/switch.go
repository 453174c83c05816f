package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/kubectl-operator/kubectl-operator/install"
)

// switchOver makes the new generation the current one with one atomic call, and
// checks the result.
func (r *applier) switchOver(ctx context.Context) error {
	g, p := r.plan.Generation, r.place
	if err := ctx.Err(); err != nil {
		return r.failed(err)
	}
	r.emit(install.Event{Type: install.EventStage, Stage: "switch", Message: fmt.Sprintf("%s to generation %d", p.location, g.To)})
	if err := r.switchLink(); err != nil {
		return r.failed(errors.Join(fmt.Errorf("switching %s: %w", p.location, err), p.sweep(p.location)))
	}
	r.switched = true
	if err := p.sync("."); err != nil {
		return r.failed(fmt.Errorf("having the switch on the disk: %w", err))
	}
	// From here on nothing stops the run: it only has to report the result.
	ctx = context.WithoutCancel(ctx)
	if n, err := generationOf(p.location); err != nil || n != g.To {
		return r.failed(fmt.Errorf("%s leads to another place than generation %d after the switch; another process writes there", p.location, g.To))
	}
	if err := r.compare(ctx, p.linkTarget(g.To)); err != nil {
		return r.failed(err)
	}
	r.receipt.Finished = r.o.Now().UTC()
	if err := p.installed(r.receipt); err != nil {
		return r.failed(fmt.Errorf("writing the receipt: %w", err))
	}
	return nil
}

// switchLink makes the location's link point to the new generation.
func (r *applier) switchLink() error {
	p, to := r.place, r.place.linkTarget(r.plan.Generation.To)
	info, err := p.root.Lstat(p.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p.symlink(to, p.base) // fails when something came there meanwhile
	case err != nil:
		return err
	case info.IsDir():
		return r.takeOver(to)
	}
	if err := p.symlink(to, p.siblingPath(nextLink)); err != nil {
		return err
	}
	return p.rename(p.siblingPath(nextLink), p.base)
}

// takeOver swaps a plain directory at the location with the link to the new
// generation, with one system call. The directory becomes generation 0.
func (r *applier) takeOver(to string) error {
	p := r.place
	if err := p.mkdir(p.generation(0)); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("files that were at %s before are generation 0 already; move them or these away", p.location)
	} else if err != nil {
		return err
	}
	data, err := newFoundReceipt(r.plan, r.o.Now().UTC()).Encode()
	if err != nil {
		return err
	}
	if err := p.write(path.Join(p.generation(0), receiptFile), data, 0o644); err != nil {
		return err
	}
	if err := p.symlink(to, p.linkTarget(0)); err != nil {
		return err
	}
	if err := p.sync(p.generation(0)); err != nil {
		return err
	}
	if err := p.exchange(p.linkTarget(0), p.base); err != nil {
		return err
	}
	r.receipt.TookOver = true
	return p.sync(p.generation(0))
}
