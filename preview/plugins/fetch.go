package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// Request holds the inputs of [Fetch]: the set, its platform and the sources.
type Request struct {
	Platform string // OS/ARCH
	// Lock, when set, is what every artifact has to be: another one is an
	// [engine.RefusedError].
	Lock *Lock
	// Sources pins and opens. It must have been made with
	// [source.Options.Artifacts] and the platform.
	Sources *source.Fetcher
	// Getenv answers for credentials in the environment.
	Getenv func(string) string
	// Progress is called with the plugin that is fetched, when not nil.
	Progress func(string)
	// Check, when set, decides whether a pinned artifact may be read at all.
	// bundle is a detached signature, nil where the config names none.
	Check func(ctx context.Context, from *source.Fetcher, pin source.Pin, bundle []byte) (SignerInfo, error)
}

// SignerInfo is the outcome of verifying an artifact's signature: the signer, and the
// note to be made about it.
type SignerInfo struct {
	Verification preview.Verification
	Rule         rules.Rule // of the finding that there is to be; without a name for none
	Text         string
}

// FetchedPlugin is a plugin with its artifact for one platform, fetched and verified.
type FetchedPlugin struct {
	*Plugin
	Artifact *Artifact
	Source   preview.Source // kind, reference as written, sha256
	Pinned   bool           // by the config, the lock or the reference itself
	content  *source.Content
	signed   SignerInfo
}

// Fetch resolves and verifies the artifact of every plugin for one platform, and opens
// its content.
func Fetch(ctx context.Context, set *Set, q Request) ([]FetchedPlugin, error) {
	out := make([]FetchedPlugin, 0, len(set.Plugins))
	for i := range set.Plugins {
		p := &set.Plugins[i]
		if q.Progress != nil {
			q.Progress(fmt.Sprintf("fetching plugin %s, %d of %d", p.Name, i+1, len(set.Plugins)))
		}
		got, err := fetch(ctx, p, q)
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %w", p.Name, err)
		}
		out = append(out, got)
	}
	return out, nil
}

func fetch(ctx context.Context, p *Plugin, q Request) (FetchedPlugin, error) {
	a := p.Artifact(q.Platform)
	if a == nil {
		return FetchedPlugin{}, fmt.Errorf("it has no artifact for %s; --platform names another platform", q.Platform)
	}
	if a.invalid != nil {
		return FetchedPlugin{}, a.invalid
	}
	from, err := q.sources(a)
	if err != nil {
		return FetchedPlugin{}, err
	}
	reference := a.Reference
	if a.Local {
		if reference, err = classifyPath(reference); err != nil {
			return FetchedPlugin{}, err
		}
	}
	pin, err := from.Pin(ctx, reference)
	if err != nil {
		return FetchedPlugin{}, err
	}
	digest := pin.Source.Digest
	if a.SHA256 != "" && digest != a.SHA256 {
		return FetchedPlugin{}, fmt.Errorf("%s is %s, and the config wants %s: %w", a.Reference.Text, digest, a.SHA256, source.ErrDigestMismatch)
	}
	if q.Lock != nil {
		if err := q.Lock.check(q.Platform, p.Name, a.Reference.Text, digest); err != nil {
			return FetchedPlugin{}, err
		}
	}
	out := FetchedPlugin{
		Plugin: p, Artifact: a,
		Source: preview.Source{Kind: pin.Source.Kind, Reference: a.Reference.Text, Digest: digest},
		Pinned: q.Lock != nil || a.SHA256 != "" || a.Reference.Immutable(),
	}
	if out.signed, err = q.check(ctx, from, pin, a); err != nil {
		return FetchedPlugin{}, err
	}
	if v := out.signed.Verification; v != (preview.Verification{}) {
		out.Source.Verification = &v
	}
	out.content, err = from.Open(ctx, pin)
	return out, err
}

// maxSignature is the largest size in bytes of a detached signature (1 MiB).
const maxSignature = 1 << 20

// check verifies the signature of an artifact before its content is read.
func (q Request) check(ctx context.Context, from *source.Fetcher, pin source.Pin, a *Artifact) (SignerInfo, error) {
	if q.Check == nil {
		return SignerInfo{}, nil
	}
	if a.Signature == nil {
		return q.Check(ctx, from, pin, nil)
	}
	at := *a.Signature
	var err error
	if at.Path != "" {
		if at, err = classifyPath(at); err != nil {
			return SignerInfo{}, fmt.Errorf("its signature: %w", err)
		}
	}
	found, err := from.Pin(ctx, at)
	if err != nil {
		return SignerInfo{}, fmt.Errorf("its signature: %w", err)
	}
	content, err := from.Open(ctx, found)
	if err != nil {
		return SignerInfo{}, fmt.Errorf("its signature: %w", err)
	}
	if !content.Plain {
		return SignerInfo{}, fmt.Errorf("its signature: %s is no single file; it has to be a Sigstore bundle", clip(at.Text))
	}
	bundle, err := fs.ReadFile(content.FS, filetree.PlainFile)
	switch {
	case err != nil:
		return SignerInfo{}, fmt.Errorf("its signature: %w", err)
	case len(bundle) > maxSignature:
		return SignerInfo{}, fmt.Errorf("its signature: %s has %d bytes; at most %d are read", clip(at.Text), len(bundle), maxSignature)
	}
	return q.Check(ctx, from, pin, bundle)
}

// commonVerification returns one verification for a whole set: the status that all
// artifacts have, or "unverified" if they differ, since a set is only as good as its
// worst artifact, and one without a trusted signer is not verified; without identity if
// the signers differ.
func commonVerification(fetched []FetchedPlugin) preview.Verification {
	out := preview.Verification{}
	for i, f := range fetched {
		v := f.signed.Verification
		switch {
		case i == 0:
			out = v
		case v.Status != out.Status:
			out = preview.Verification{Status: "unverified"}
		case v.Identity != out.Identity:
			out.Identity = ""
		}
	}
	return out
}

// classifyPath returns a local reference with the kind that its path has on this
// machine, directory or file. A path that does not exist is an error.
func classifyPath(r ref.Reference) (ref.Reference, error) {
	info, err := os.Stat(r.Path)
	var cause *fs.PathError
	switch {
	case errors.As(err, &cause):
		return r, fmt.Errorf("reading %s: %w", r.Text, cause.Err)
	case err != nil:
		return r, err
	case info.IsDir():
		r.Kind = ref.KindDirectory
	}
	return r, nil
}

// sources returns the fetcher for an artifact: the request's, with the config's
// credentials for the artifact if there are any.
func (q Request) sources(a *Artifact) (*source.Fetcher, error) {
	if !a.Auth.Given() {
		return q.Sources, nil
	}
	login := auth.Login{Username: a.Auth.Username, AccessKey: a.Auth.AccessKeyID}
	for _, part := range []struct {
		from Secret
		into *string
	}{{a.Auth.Password, &login.Password}, {a.Auth.Bearer, &login.Token}, {a.Auth.SecretKey, &login.SecretKey}} {
		value, err := q.reveal(part.from)
		if err != nil {
			return nil, err
		}
		*part.into = value
	}
	key, err := q.reveal(a.Auth.Google)
	if err != nil {
		return nil, err
	}
	if key != "" {
		login.GoogleKey = []byte(key)
	}
	return q.Sources.With(auth.NewCredentials(login, a.Reference)), nil
}

const maxSecret = 64 << 10

// reveal returns the value of a credential, from its environment variable, its file or
// the config itself. A variable or file that is missing is an error.
func (q Request) reveal(s Secret) (string, error) {
	switch {
	case s.Env != "":
		value := q.Getenv(s.Env)
		if value == "" {
			return "", fmt.Errorf("the credential is to come from the environment variable %s, which is not set", clip(s.Env))
		}
		return value, nil
	case s.File != "":
		info, err := os.Stat(s.File)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxSecret {
			return "", fmt.Errorf("the credential is to come from the file %s, which is missing or no small plain file", clip(s.File))
		}
		data, err := os.ReadFile(s.File)
		if err != nil {
			return "", fmt.Errorf("the credential is to come from the file %s, which cannot be read", clip(s.File))
		}
		return strings.TrimSpace(string(data)), nil
	}
	return s.inline, nil
}

// refuse returns an [engine.RefusedError], which makes the command exit with code 5.
func refuse(what, next string) error { return &engine.RefusedError{What: what, Next: next} }
