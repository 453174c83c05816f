package tui

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/tui/follow"
	"github.com/kubectl-operator/kubectl-operator/tui/home"
	"github.com/kubectl-operator/kubectl-operator/tui/pick"
	"github.com/kubectl-operator/kubectl-operator/tui/review"
)

// Review shows a plan and asks for approval. An error means that the screen
// could not run, or that ctx ended it; the outcome then approves nothing.
func Review(ctx context.Context, opts review.Options) (review.Outcome, error) {
	return review.Run(ctx, opts)
}

// PlainReview is [Review] in lines of text, for screen readers and for terminals
// that cannot be drawn on.
func PlainReview(ctx context.Context, opts review.Options) (review.Outcome, error) {
	return review.RunPlain(ctx, opts)
}

// Follow shows an apply until its result, or until the user detaches.
func Follow(ctx context.Context, opts follow.Options) (follow.Outcome, error) {
	return follow.Run(ctx, opts)
}

// Pick lets the user choose a package and a version of it.
func Pick(ctx context.Context, opts pick.Options) (pick.Choice, error) {
	return pick.Run(ctx, opts)
}

// Home shows the releases of the cluster and ways to begin, until a command is chosen.
func Home(ctx context.Context, opts home.Options) (home.Choice, error) {
	return home.Run(ctx, opts)
}
