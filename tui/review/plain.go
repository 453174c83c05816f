package review

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// plainHeight is more lines than CONFIRM ever has, so that nothing is left out of it.
const plainHeight = 1000

// plainWidth is the width of lines where there is no terminal, in cells: that of reports.
const plainWidth = 100

// plainReview is the review as lines of text with questions between them: for
// screen readers, and for terminals that cannot be drawn on. It uses the model
// of the screen, which alone decides what must be reviewed and what approves.
type plainReview struct {
	ctx  context.Context
	opts Options
	out  io.Writer
	ask  *frame.Prompter
	m    *review
}

// RunPlain is [Run] without a screen. It writes to the terminal's output, which
// must make text harmless, and reads lines from its input. The answer that
// approves is always the release's name; the end of the input counts as no.
// Instead of being watched, the cluster is read again before the question.
func RunPlain(ctx context.Context, opts Options) (Outcome, error) {
	if err := opts.check(); err != nil {
		return Outcome{}, err
	}
	opts.Watch = nil
	if opts.Now == nil {
		opts.Now = time.Now
	}
	p := &plainReview{ctx: ctx, opts: opts, out: opts.Output, ask: frame.NewPrompter(opts.Input, opts.Output)}
	if p.opts.Plan == nil {
		p.say("Resolving " + opts.Title + ". Nothing has been changed. ctrl+c cancels.")
		plan, err := p.wait("resolving", opts.Resolve)
		if ctx.Err() != nil {
			return Outcome{Kind: Quit, Err: ctx.Err()}, ctx.Err()
		}
		if err != nil {
			return Outcome{Kind: Failed, Err: err}, nil
		}
		p.opts.Plan = plan
	}
	p.m = newReview(ctx, p.opts)
	p.m.Plain = true
	p.m.resize(max(cmp.Or(opts.Width, plainWidth), frame.ConfirmWidth), plainHeight)
	err := p.review()
	if err != nil {
		return Outcome{Kind: Quit, Plan: p.m.Plan, Err: err}, err
	}
	return p.m.outcome, nil
}

// say prints one line.
func (p *plainReview) say(text string) { fmt.Fprintln(p.out, textsafe.Line(text)) }

func (p *plainReview) print(lines []widget.Line) {
	for _, line := range lines {
		fmt.Fprintln(p.out, strings.TrimRight(line.Plain(), " "))
	}
}

// wait runs work that takes time, and prints a line for each step and at intervals.
func (p *plainReview) wait(what string, work func(context.Context, func(string)) (*preview.Plan, error)) (*preview.Plan, error) {
	var mu sync.Mutex
	last, began := what, p.opts.Now()
	defer frame.Heartbeat(p.ctx, p.opts.Beat, func() {
		mu.Lock()
		defer mu.Unlock()
		p.say("  still " + last + ", " + frame.RoundDuration(p.opts.Now().Sub(began)))
	})()
	plan, err := work(p.ctx, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		last = line
		p.say("  " + line)
	})
	if err == nil && plan == nil {
		err = fmt.Errorf("%s: no plan came back", what)
	}
	return plan, err
}

// review prints the plan and asks until there is an outcome. An error is that
// of reading the input, or of ctx; then nothing is approved.
func (p *plainReview) review() error {
	if err := p.report(); err != nil {
		return err
	}
	for {
		n := p.list()
		question := "a approve, q quit: "
		if n > 0 {
			question = fmt.Sprintf("show [1-%d], %s", n, question)
		}
		answer, ok, err := p.ask.Ask(p.ctx, question)
		if err != nil || !ok {
			p.m.outcome.Kind = Quit
			return err
		}
		switch answer = strings.TrimSpace(answer); answer {
		case "q":
			p.m.outcome.Kind = Quit
			return nil
		case "a":
			ended, err := p.approve()
			if ended || err != nil {
				return err
			}
			continue
		}
		at, err := strconv.Atoi(answer)
		if err != nil || at < 1 || at > n {
			p.say("There is no such choice.")
			continue
		}
		if ended, err := p.showItem(at - 1); ended || err != nil {
			return err
		}
	}
}

// report prints the plan, section by section.
func (p *plainReview) report() error {
	if cmd := p.m.lookups.findPriorAcceptances(); cmd != nil {
		if found, ok := cmd().(priorAcceptancesMsg); ok {
			p.m.refreshTabs(p.m.lookups.setPriorAcceptances(found)...)
		}
	}
	return report.Write(p.out, p.m.Plan, report.Options{Format: report.Text, ASCII: p.opts.ASCII, Width: p.m.Size.Width})
}

// list prints the findings with numbers, those that must be reviewed first, and
// returns how many there are.
func (p *plainReview) list() int {
	b, n := p.m.Checklist, 0
	fmt.Fprintln(p.out)
	for i, it := range b.Items {
		if it.Severity() == preview.Info {
			break // the last ones; the report names them
		}
		if i == 0 || b.Items[i-1].Severity() != it.Severity() {
			p.say(frame.SectionTitle(it.Severity()))
		}
		state := ""
		if b.IsReviewed(i) {
			state = "reviewed: "
		}
		what, who := tabs.WhatAndWho(it)
		p.say(fmt.Sprintf("%3d  %s  %s%s  %s", i+1, it.Label(), state, what, who))
		n++
	}
	p.say(b.RemainingText() + " left to review. Plan " + p.m.Plan.Digest)
	return n
}

// showItem prints an item in full, and marks it when the user confirms having
// read it. ended is true at the end of the input.
func (p *plainReview) showItem(at int) (ended bool, err error) {
	fmt.Fprintln(p.out)
	p.print(p.m.table[tabs.Findings].Doc(p.m.Checklist.Items[at].Label(), p.m.Size.Width).Lines)
	answer, ok, err := p.ask.Ask(p.ctx, "Press enter when you have read this; q leaves it open: ")
	if err != nil || !ok {
		p.m.outcome.Kind = Quit
		return true, err
	}
	if strings.TrimSpace(answer) == "" {
		p.m.setMark(at, true)
	}
	return false, nil
}

// approve shows the next item that must be reviewed or, if all are, asks for the
// approval. ended is true when the review has an outcome, or the input ends.
func (p *plainReview) approve() (ended bool, err error) {
	if p.m.Checklist.Remaining() > 0 {
		p.say(p.m.Checklist.RemainingText() + " to review, this one first:")
		return p.showItem(p.m.Checklist.Next(-1, 1))
	}
	if why := p.m.gate.now(p.m.tabPanel.View); why != nil {
		p.say("This plan cannot be approved: " + why.Error())
		return false, nil
	}
	plan, err := p.wait("checking "+comparisonBasis(p.m.Plan)+" again", func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
		return p.opts.Recheck(ctx, p.m.Plan, progress)
	})
	switch {
	case p.ctx.Err() != nil:
		return true, p.ctx.Err()
	case err != nil:
		p.say("The " + strings.TrimPrefix(comparisonBasis(p.m.Plan), "the ") + " could not be checked again: " + err.Error())
		return false, nil
	case plan.Digest != p.m.Plan.Digest:
		p.m.replace(plan, "The "+strings.TrimPrefix(comparisonBasis(plan), "the ")+" changed during the review: ")
		p.say(p.m.Banner)
		return false, p.report()
	}
	return p.confirm()
}

// confirm asks for the approval. The answer goes to submit of the model, the
// only function that approves.
func (p *plainReview) confirm() (ended bool, err error) {
	m := p.m
	m.screen = screenConfirm
	m.confirm = confirmDialog{tabPanel: m.tabPanel, checked: true, at: m.opts.Now(), listens: true}
	p.print(m.confirm.confirmHead(m.Size.Width, plainHeight))
	m.confirm.full = true
	p.print(m.confirm.confirmHead(m.Size.Width, plainHeight))
	answer, ok, err := p.ask.Ask(p.ctx, fmt.Sprintf("\nType %s to approve, anything else goes back: ", textsafe.Line(m.confirm.answer())))
	if err != nil || !ok {
		m.quit()
		return true, err
	}
	m.confirm.input.Value = strings.TrimSuffix(answer, "\r")
	m.submit()
	if m.outcome.Kind == Approved {
		return true, nil
	}
	m.screen = screenReview
	p.say("That was not the answer: nothing was approved.")
	return false, nil
}
