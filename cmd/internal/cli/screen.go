package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/kubectl-operator/kubectl-operator/tui"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/review"
	"github.com/spf13/pflag"
)

// screenFlag is --tui of commands that only show a plan.
type screenFlag struct{ on bool }

func (f *screenFlag) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "tui", false, "show the review on the screen instead of printing it; nothing can be approved there")
}

// check refuses what says how to print or judge a plan that is only looked at.
func (f *screenFlag) check(a *app, flags *pflag.FlagSet) error {
	if !f.on {
		return nil
	}
	for _, name := range []string{"output", "out", "detailed-exitcode", "fail-on"} {
		if flags.Changed(name) {
			return usagef("--tui only shows the plan on the screen; leave out --tui or --%s", name)
		}
	}
	if flags.Changed("plain") {
		return usagef("--plain draws no screen; leave out --tui")
	}
	if !a.streams.CanDraw() {
		return fmt.Errorf("not a terminal: --tui draws on one; leave it out to print the review")
	}
	return nil
}

// browse shows a review that cannot be approved, until the person leaves it.
func (a *app) browse(ctx context.Context, o review.Options) error {
	o.Terminal, o.ReadOnly = a.terminal(), true
	outcome, err := tui.Review(ctx, o)
	if err != nil {
		return err
	}
	return outcome.Err
}

// reviews is how a review is shown that can be approved: on the screen, or in
// lines.
func (a *app) reviews() func(context.Context, review.Options) (review.Outcome, error) {
	if a.streams.Lines() {
		return tui.PlainReview
	}
	return tui.Review
}

// terminal is where screens are drawn: this process's own terminal, under the
// decisions made for all output. Lines of text go through the one writer for
// people instead.
func (a *app) terminal() frame.Terminal {
	if a.streams.Lines() {
		return frame.Terminal{Input: a.streams.In, Output: a.streams.Human(), ASCII: a.streams.ASCII(), Width: a.streams.Width()}
	}
	return frame.Terminal{
		Input: a.streams.In, Output: os.Stdout, Color: a.streams.Color(), ASCII: a.streams.ASCII(), NoMotion: a.global.noMotion,
	}
}
