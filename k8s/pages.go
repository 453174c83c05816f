package k8s

import (
	"context"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

const (
	// pageSize is the number of objects on the first page of a list that is read to
	// its end.
	pageSize = 250
	// firstPage is the number of objects on the first page, when the caller may stop.
	firstPage = 50
	// pageBytes is the size in bytes that the pages after the first are meant to have, and
	// largestPage the most objects that they ask for. A list holds one page in memory and
	// its caller's data, and the number of pages is how often the distance to the API server
	// counts.
	pageBytes   = 4 << 20
	largestPage = 2000
	// maxExpired is how often one list may go on with a newer state of the collection.
	maxExpired = 100
	// maxAgain is how often a list that expires is read, from its beginning each time.
	maxAgain = 3
)

// Pages calls each with the objects of a kind in all namespaces, page by page,
// until there are no more or each returns false. remaining is the number of
// objects that follow, 0 if the server does not say. A kind that the cluster
// does not serve is an error. The callee may keep the objects.
//
// If the server no longer has the state where the list began, it goes on with the
// present state. An object that exists all the while comes exactly once; one that is
// created or deleted meanwhile may be missing.
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

// pages reads a collection page by page, all in the state where it began, until use
// returns false. If the server loses that state, it is an error.
func (c *Client) pages(ctx context.Context, res resource, namespace string, params map[string]string, use func(listPage) bool) error {
	p := pager{client: c, resource: res, namespace: namespace, params: params, limit: pageSize}
	return p.run(ctx, use)
}

// pager is a read of a collection, page by page.
type pager struct {
	client    *Client
	resource  resource
	namespace string
	params    map[string]string
	fields    fieldTree // that objects have, nil for all
	protobuf  bool      // the kind's types are known, see [hasTypes]; needs fields
	limit     int       // objects of the next page
	goOn      bool      // in another state, where the server lost the first page's
}

func (p *pager) run(ctx context.Context, use func(listPage) bool) error {
	next, expired := "", 0
	for {
		page, err := p.client.readPage(ctx, p.request(next), p.fields)
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
			p.limit = min(max(pageBytes/max(page.bytes/n, 1), 1), largestPage)
		}
	}
}

func (p *pager) request(next string) *rest.Request {
	r := p.client.collection(p.resource, p.namespace).Param("limit", strconv.Itoa(p.limit))
	switch {
	case p.fields.onlyMetadata():
		r = r.SetHeader("Accept", metadataOnly)
	case p.protobuf:
		r = r.SetHeader("Accept", asProtobuf)
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

// isExpired reports whether err means that the server no longer has the state
// of the collection that a list or watch asked for.
func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// continueToken returns the token in the error of an expired list; with it the list goes
// on in the present state (Kubernetes API concepts, "Retrieving large results sets in
// chunks"); empty if there is none.
func continueToken(err error) string {
	var answer apierrors.APIStatus
	if !isExpired(err) || !errors.As(err, &answer) {
		return ""
	}
	return answer.Status().Continue
}

// retryExpired calls list, and calls it again while it fails as expired, at
// most [maxAgain] times.
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

// readPage reads one page, and keeps these fields of its objects, all for nil.
func (c *Client) readPage(ctx context.Context, r *rest.Request, fields fieldTree) (listPage, error) {
	data, err := c.readRaw(ctx, r)
	if err != nil {
		return listPage{}, err
	}
	return decodePage(data, fields)
}

// decodePage decodes the answer to a LIST, and of its objects these fields, all for
// nil, which only JSON has. Items are decoded one by one, so that the size limit for one object does not
// apply to the whole page.
func decodePage(data []byte, fields fieldTree) (listPage, error) {
	if isProtobuf(data) {
		return decodeProtobufPage(data, fields)
	}
	meta, items, err := splitList(data)
	if err != nil {
		return listPage{}, undecodable("list", err)
	}
	page := listPage{
		items: make([]map[string]any, 0, len(items)), bytes: len(data),
		next: meta.Continue, remaining: meta.RemainingItemCount, resourceVersion: meta.ResourceVersion,
	}
	texts, reduced := sharedTexts{}, []byte{}
	for _, item := range items {
		if fields != nil {
			if reduced, err = fields.reduce(reduced[:0], item); err != nil {
				return listPage{}, undecodable("list", err)
			}
			item = reduced
		}
		body, err := decodeBody(item)
		if err != nil {
			return listPage{}, err
		}
		if fields != nil {
			body = texts.shareIn(body)
		}
		page.items = append(page.items, body)
	}
	return page, nil
}
