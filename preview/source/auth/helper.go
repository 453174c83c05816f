package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks/processgroup"
)

// credentialHelper runs the programs that keep credentials for Docker and Podman
// (github.com/docker/docker-credential-helpers). A helper that takes too long or prints
// too much is ended, with all that it started. Its output is never shown, as it may be
// a password.
type credentialHelper struct{ patience time.Duration }

// helperBytes is the most bytes that a helper may print (64 KiB); the longest tokens
// have a few KiB.
const helperBytes = 64 * bounded.KiB

// helperWait is how long the pipes of an ended helper are waited for.
const helperWait = time.Second

var (
	helperName        = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	errHelperTooSlow  = errors.New("it did not end in time")
	errHelperTooLarge = fmt.Errorf("it prints more than %s", bounded.ByteCount(helperBytes))
)

// helperNotFound is what a helper prints that has no credentials for a registry.
const helperNotFound = "credentials not found in native keychain"

// HelperError is the error for a helper that failed.
type HelperError struct {
	registry, place, helper string
	err                     error
}

func (e *HelperError) Error() string {
	return fmt.Sprintf("no credentials for %s, which %s leaves to docker-credential-%s: %v", e.registry, e.place, e.helper, e.err)
}

func (e *HelperError) Unwrap() error { return e.err }

// get returns the credentials that a helper has for a registry; the zero value, without
// error, if it has none.
func (h credentialHelper) get(ctx context.Context, helper, server string) (authn.AuthConfig, error) {
	var none authn.AuthConfig
	if !helperName.MatchString(helper) {
		return none, errors.New("it is not the name of a program")
	}
	short, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(h.patience, func() { cancel(errHelperTooSlow) })
	defer timer.Stop()
	cmd := exec.CommandContext(short, "docker-credential-"+helper, "get")
	out := &helperOutput{full: func() { cancel(errHelperTooLarge) }}
	cmd.Stdin, cmd.Stdout = strings.NewReader(server), out
	// Its own group, which can be ended as a whole.
	cmd.SysProcAttr = processgroup.Own()
	cmd.Cancel = func() error { return processgroup.Kill(cmd.Process) }
	cmd.WaitDelay = helperWait
	err := cmd.Run()
	cause := context.Cause(short)
	switch {
	case ctx.Err() != nil:
		return none, ctx.Err()
	case errors.Is(cause, errHelperTooSlow):
		return none, fmt.Errorf("%w, %s; unlock what it waits for, or wait longer with --request-timeout", cause, h.patience)
	case cause != nil:
		return none, cause
	case errors.Is(err, exec.ErrNotFound):
		return none, errors.New("it is not on the PATH")
	case err != nil && strings.TrimSpace(out.kept.String()) == helperNotFound:
		return none, nil
	case err != nil:
		return none, fmt.Errorf("it failed (%s); echo %s | docker-credential-%s get says why", helperExit(err), server, helper)
	}
	return parseHelperAnswer(out.kept.Bytes())
}

// helperExit describes how a helper ended, such as "exit status 1", without its output.
func helperExit(err error) string {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ProcessState.String()
	}
	return "it cannot be run"
}

func parseHelperAnswer(data []byte) (authn.AuthConfig, error) {
	var answer struct{ Username, Secret string }
	if json.Unmarshal(data, &answer) != nil {
		return authn.AuthConfig{}, errors.New("it answers with something that is not JSON of the expected shape")
	}
	if answer.Username == "<token>" {
		return authn.AuthConfig{IdentityToken: answer.Secret}, nil
	}
	return authn.AuthConfig{Username: answer.Username, Password: answer.Secret}, nil
}

// helperOutput keeps what a helper prints, up to [helperBytes]. It does not embed
// bytes.Buffer, whose ReadFrom would read beyond that.
type helperOutput struct {
	kept bytes.Buffer
	full func()
}

func (o *helperOutput) Write(p []byte) (int, error) {
	if o.kept.Len()+len(p) > helperBytes {
		o.full()
		return 0, errHelperTooLarge
	}
	return o.kept.Write(p)
}
