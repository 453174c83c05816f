package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
	"github.com/kubectl-operator/kubectl-operator/preview/source/git"
)

// gitHTTP is a git server that speaks the smart protocol over https
// (gitprotocol-http(5)); its requests are independent.
type gitHTTP struct {
	web       *web
	mostBytes int64  // of the answer to one request
	host      string // as referenced, the only one that gets credentials
	base      string // where the repository is, after redirects
	left      bool   // that is on another host
}

func newGitHTTP(w *web, repository string, mostBytes int64) (*gitHTTP, error) {
	u, err := url.Parse(repository)
	if err != nil {
		return nil, errors.New("it is not a URL")
	}
	return &gitHTTP{web: w, mostBytes: mostBytes, host: u.Host, base: repository}, nil
}

const gitInfoRefs = "/info/refs"

func (g *gitHTTP) Advertise(ctx context.Context) (*packp.AdvRefs, error) {
	body, err := g.web.send(ctx, webRequest{
		method: http.MethodGet, address: g.base + gitInfoRefs + "?service=git-upload-pack",
		most: git.RefsBytes, scheme: auth.Git,
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	// A repository that moved redirects here; later requests go there.
	moved := *body.url
	path, ok := strings.CutSuffix(moved.Path, gitInfoRefs)
	if !ok {
		return nil, fmt.Errorf("%s redirects to something that is not a git repository", g.host)
	}
	moved.Path, moved.RawPath, moved.RawQuery, moved.User = path, "", "", nil
	g.base, g.left = moved.String(), moved.Host != g.host
	return git.ReadRefs(ctx, body)
}

func (g *gitHTTP) Upload(ctx context.Context, request []byte) (io.ReadCloser, error) {
	return g.web.send(ctx, webRequest{
		method: http.MethodPost, address: g.base + "/git-upload-pack", body: request,
		header: http.Header{
			"Content-Type": {"application/x-git-upload-pack-request"},
			"Accept":       {"application/x-git-upload-pack-result"},
		},
		most: g.mostBytes, scheme: auth.Git, anonymous: g.left,
	})
}

func (g *gitHTTP) Close() error { return nil }
