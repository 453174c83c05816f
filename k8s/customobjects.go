package k8s

import "context"

// Pages hands the objects of a kind in all namespaces to each, a page at a
// time, until there are none or each returns false. remaining is how many
// follow, as far as the server says. It is refused as not served when the
// cluster does not know the kind. The objects of a page are each's to keep.
func (c *Client) Pages(ctx context.Context, apiVersion, kind string, each func(objects []map[string]any, remaining int) (more bool)) error {
	res, err := c.lookup(ctx, apiVersion, kind)
	if err != nil {
		return err
	}
	return c.pages(ctx, res, "", nil, func(page listPage) bool {
		for _, body := range page.items {
			setType(body, apiVersion, kind)
		}
		return each(page.items, page.remaining)
	})
}
