package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

func TestErrorsBecomeExitCodesAndText(t *testing.T) {
	applying := func(kind install.Kind) error {
		return &install.Error{Kind: kind, Operation: "applying mongodb", Cause: "it rained", Advice: "take an umbrella"}
	}
	text := "error: applying mongodb\nit rained\ntake an umbrella"
	for name, tt := range map[string]struct {
		err  error
		code int
		text string
	}{
		"no error":                        {nil, 0, ""},
		"any error":                       {errors.New("it rained"), 1, "error: it rained"},
		"a missing file":                  {fmt.Errorf("reading x: %w", fs.ErrNotExist), 1, "error: reading x: file does not exist"},
		"a line break at the end":         {errors.New("it rained\n"), 1, "error: it rained"}, //nolint:revive // that it ends so is the case
		"bad usage":                       {usagef("-o xml: want %s", "json"), 1, "error: -o xml: want json\nSee \"kubectl operator --help\"."},
		"bad usage, found further down":   {fmt.Errorf("planning: %w", usagef("say what")), 1, "error: planning: say what\nSee \"kubectl operator --help\"."},
		"a deadline of ours":              {fmt.Errorf("planning: %w", context.DeadlineExceeded), 1, "error: planning: context deadline exceeded"},
		"a refusal by the API server":     {&preview.Refusal{Reason: preview.ReasonForbidden, Message: "no"}, 1, "error: forbidden: no"},
		"cancelled while planning":        {fmt.Errorf("reading: %w", context.Canceled), 2, "cancelled; nothing was applied"},
		"declined, with all said already": {&silentExit{exitDeclined}, 2, ""},
		"unhealthy, with all said":        {&silentExit{exitFailed}, 3, ""},
		"a plan that cannot be made":      {&engine.RefusedError{What: "owned by helm", Next: "ask its owner"}, 5, "error: owned by helm; ask its owner"},
		"a refusal while planning":        {fmt.Errorf("plan: %w", refuse("spent", "preview again")), 5, "error: plan: spent; preview again"},
		"apply never began":               {applying(install.NotStarted), 1, text},
		"apply was declined":              {applying(install.Declined), 2, text},
		"apply failed":                    {applying(install.Failed), 3, text},
		"apply was interrupted":           {applying(install.Interrupted), 4, text},
		"apply was refused":               {applying(install.Refused), 5, text},
		"cancelled after a write":         {&install.Error{Kind: install.Interrupted, Operation: "waiting", Err: context.Canceled}, 4, "error: waiting"},
		"cancelled before a write": {&install.Error{Kind: install.Declined, Operation: "checking", Cause: "stopped before the first write", Advice: "nothing was applied", Err: context.Canceled}, 2,
			"error: checking\nstopped before the first write\nnothing was applied"},
		"an apply error inside others": {errors.Join(applying(install.Failed), errors.New("and the screen broke")), 3, "error: applying mongodb\nit rained; take an umbrella\nand the screen broke"},
		"an apply error of no kind":    {&install.Error{Operation: "applying"}, 1, "error: applying"},
		"an error of many lines":       {errors.New("a\nb\n\nc\nd\ne"), 1, "error: a\nb; c; d\ne"},
	} {
		t.Run(name, func(t *testing.T) {
			if code := exitCode(tt.err); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if tt.err == nil {
				return
			}
			got := errorText(tt.err, "kubectl operator", fmt.Sprint(tt.err))
			if got != tt.text {
				t.Errorf("text is\n%s\nwant\n%s", got, tt.text)
			}
			if strings.Count(got, "\n") > 2 {
				t.Errorf("more than three lines:\n%s", got)
			}
		})
	}
}

// A refusal by the program itself has its exit code and points to help.
func TestMainReportsBadUsage(t *testing.T) {
	for name, tt := range map[string]struct {
		args          []string
		want, command string
	}{
		"an unknown command":              {[]string{"nonsense"}, `error: unknown command "nonsense"`, ""},
		"a misspelt command":              {[]string{"instal", "x"}, `error: unknown command "instal"; did you mean install?`, ""},
		"a command of another tool":       {[]string{"delete", "x", "--force"}, `error: unknown command "delete": uninstall deletes a release`, ""},
		"an unknown flag":                 {[]string{"preview", "./x", "--nonsense"}, "error: unknown flag: --nonsense", "preview"},
		"a flag of another tool":          {[]string{"install", "./x", "--dry-run"}, "error: unknown flag: --dry-run: preview makes the same plan and changes nothing", "install"},
		"a letter of another tool":        {[]string{"status", "x", "-A"}, "error: unknown shorthand flag: 'A' in -A: list shows the releases of all namespaces", "status"},
		"all namespaces and one":          {[]string{"list", "-A", "-n", "x"}, "error: --all-namespaces and --namespace x exclude each other", "list"},
		"a flag without its value":        {[]string{"preview", "./x", "-o"}, "error: flag needs an argument: 'o' in -o", "preview"},
		"a value of another type":         {[]string{"install", "./x", "--ruleset", "one"}, `error: invalid argument "one"`, "install"},
		"too few arguments":               {[]string{"upgrade", "--kubeconfig", "/nonexistent"}, "error: 0 arguments, want the NAME of a release and, if you like, REF", "upgrade"},
		"too many arguments":              {[]string{"list", "all"}, "error: 1 argument, want ", "list"},
		"a colour scheme that is none":    {[]string{"version", "--color-scheme", "blue"}, "error: --color-scheme blue: want default or colorblind", "version"},
		"a colour that is none":           {[]string{"version", "--color", "blue"}, "error: --color blue: want auto, always or never", "version"},
		"a flag that this tool has not":   {[]string{"install", "./x", "--force"}, "error: unknown flag: --force: --conflicts take", "install"},
		"the help of a command below one": {[]string{"catalog", "show", "--nonsense"}, "error: unknown flag: --nonsense", "catalog show"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runMain(t, tt.args...)
			if code != exitError || stdout != "" {
				t.Errorf("exit code %d and %q on standard output, want %d and nothing", code, stdout, exitError)
			}
			hint := "\nSee \"" + strings.TrimSpace("kubectl operator "+tt.command) + " --help\".\n"
			if !strings.HasPrefix(stderr, tt.want) || !strings.HasSuffix(stderr, hint) {
				t.Errorf("printed %q, want %q and where to find help", stderr, tt.want)
			}
		})
	}
}
