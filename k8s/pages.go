package k8s

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	// pageSize of lists that are read to their end.
	pageSize = 250
	// firstPage of objects of a kind of which it is not known how large they are.
	firstPage = 50
	// pageBytes is the size in bytes that pages after the first are sized for.
	pageBytes = 16 << 20
	// maxExpired is the number of times that one list may continue in another
	// state.
	maxExpired = 100
	// maxAgain is the number of times that an expired list is read from its
	// beginning.
	maxAgain = 3
)

// Pages hands the objects of a kind in all namespaces to each, a page at a
// time, until there are none or each returns false. remaining is how many
// follow, as far as the server says. It is refused as not served when the
// cluster does not know the kind. The objects of a page are each's to keep.
//
// A server that no longer has the state in which the list began goes on with
// the present one: an object that exists all the while comes once, one that
// comes or goes meanwhile may be missing.
func (c *Client) Pages(ctx context.Context, apiVersion, kind string, each func(objects []map[string]any, remaining int) (more bool)) error {
	res, err := c.lookup(ctx, apiVersion, kind)
	if err != nil {
		return err
	}
	p := pager{client: c, resource: res, limit: firstPage, goOn: true}
	return p.run(ctx, func(page listPage) bool {
		for _, body := range page.items {
			setType(body, apiVersion, kind)
		}
		return each(page.items, page.remaining)
	})
}

// pages reads a collection in one consistent state, page by page, until use
// returns false.
func (c *Client) pages(ctx context.Context, res resource, namespace string, params map[string]string, use func(listPage) bool) error {
	p := pager{client: c, resource: res, namespace: namespace, params: params, limit: pageSize}
	return p.run(ctx, use)
}

// pager reads a collection page by page.
type pager struct {
	client    *Client
	resource  resource
	namespace string
	params    map[string]string
	accept    string // media type, JSON when empty
	limit     int    // objects of the next page
	goOn      bool   // in another state, where the server lost that of the first page
}

func (p *pager) run(ctx context.Context, use func(listPage) bool) error {
	next, expired := "", 0
	for {
		page, err := p.client.readPage(ctx, p.request(next))
		if token := continueToken(err); token != "" && p.goOn && expired < maxExpired {
			next, expired = token, expired+1
			continue
		}
		if err != nil {
			return err
		}
		if !use(page) || page.next == "" {
			return nil
		}
		next = page.next
		if n := len(page.items); n > 0 {
			p.limit = min(max(pageBytes/max(page.bytes/n, 1), 1), pageSize)
		}
	}
}

func (p *pager) request(next string) *rest.Request {
	r := p.client.collection(p.resource, p.namespace).Param("limit", strconv.Itoa(p.limit))
	if p.accept != "" {
		r = r.SetHeader("Accept", p.accept)
	}
	for key, value := range p.params {
		if value != "" {
			r = r.Param(key, value)
		}
	}
	if next != "" {
		r = r.Param("continue", next)
	}
	return r
}

// isExpired reports whether the server lost the state that a list or watch
// asked for.
func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// continueToken returns the token by which an expired list continues in the
// present state (Kubernetes API concepts, "Retrieving large results sets in
// chunks").
func continueToken(err error) string {
	var answer apierrors.APIStatus
	if !isExpired(err) || !errors.As(err, &answer) {
		return ""
	}
	return answer.Status().Continue
}

// retryExpired reads a list, and starts again if it expires.
func retryExpired(list func() error) error {
	for range maxAgain - 1 {
		if err := list(); !isExpired(err) {
			return err
		}
	}
	return list()
}

// listPage is one page of a collection.
type listPage struct {
	items           []map[string]any
	next            string // continue token, empty on the last page
	remaining       int    // after this page, 0 when the server does not say
	resourceVersion string
	bytes           int // as sent
}

func (c *Client) readPage(ctx context.Context, r *rest.Request) (listPage, error) {
	data, err := c.readRaw(ctx, r)
	if err != nil {
		return listPage{}, err
	}
	return decodePage(data)
}

// decodePage decodes a LIST response. Items are decoded one by one, so that the
// size limit for one object does not apply to the whole page.
func decodePage(data []byte) (listPage, error) {
	var envelope struct {
		Metadata struct {
			Continue           string `json:"continue"`
			RemainingItemCount int    `json:"remainingItemCount"`
			ResourceVersion    string `json:"resourceVersion"`
		} `json:"metadata"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &envelope); err != nil {
		return listPage{}, &preview.Refusal{Reason: preview.ReasonOther, Message: "the list cannot be decoded: " + err.Error(), Err: err}
	}
	page := listPage{
		bytes: len(data), next: envelope.Metadata.Continue, remaining: envelope.Metadata.RemainingItemCount,
		resourceVersion: envelope.Metadata.ResourceVersion,
	}
	for _, item := range envelope.Items {
		body, err := decodeBody(item)
		if err != nil {
			return listPage{}, err
		}
		page.items = append(page.items, body)
	}
	return page, nil
}
