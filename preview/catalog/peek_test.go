package catalog

import (
	"strings"
	"testing"
)

// The quick reader and the decoder read the same, for every bundle of the corpus.
func TestReadingABundleQuicklyAndDecodingItSayTheSame(t *testing.T) {
	for _, name := range []string{"openshift-community-v4.19", "community-operators-derived", "aws-load-balancer-operator-v4.14", "external-dns-operator-v4.19"} {
		c := loadCorpus(t, name)
		quick, all := 0, 0
		for _, pkg := range c.Names() {
			docs, err := c.documents(pkg)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range docs.bundles {
				if all++; i%7 != 0 && len(docs.bundles) > 20 { // decoding all takes long
					continue
				}
				got, ok := peekBundle(d)
				if !ok {
					continue
				}
				quick++
				want, err := decodeBundle(d)
				if err != nil || want.Image != got.image || want.Version.String() != got.version {
					t.Errorf("%s %s: read %+v, decoded %+v, %v", name, d.name, got, want, err)
				}
			}
		}
		if quick == 0 {
			t.Errorf("%s: none of %d bundles is read quickly", name, all)
		}
	}
}

func TestABundleThatReadsInTwoWaysIsNotChosen(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"a version in a text": {
			"image: r.example/m:v1\ndescription: \"x\nproperties:\n- type: olm.package\n  value:\n    packageName: m\n    version: 9.9.9\n\"\nproperties: [{type: olm.package, value: {packageName: m, version: 1.0.0}}]\n",
			"read in two ways"},
		"an image in a text": {
			"description: \"x\nimage: r.example/evil:v1\n\"\nproperties:\n- type: olm.package\n  value:\n    packageName: m\n    version: 1.0.0\n",
			"read in two ways"},
		"a version twice": {
			"image: r.example/m:v1\nproperties:\n- type: olm.package\n  value:\n    packageName: m\n    version: 1.0.0\n    version: 2.0.0\n",
			"is set twice"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "---\nschema: olm.package\nname: m\ndefaultChannel: s\n---\nschema: olm.channel\npackage: m\nname: s\nentries: [{name: m.v1}]\n---\nschema: olm.bundle\npackage: m\nname: m.v1\n" + test.body
			_, err := Resolve(one(t, text), Query{Package: "m"})
			mustFail(t, err, test.want)
		})
	}
}

func FuzzPeekBundle(f *testing.F) {
	f.Add("image: r.example/m:v1\nproperties:\n- type: olm.package\n  value:\n    packageName: m\n    version: 1.0.0\n")
	f.Add(`{"image":"r.example/m:v1","properties":[{"type":"olm.package","value":{"packageName":"m","version":"1.0.0"}}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		d := document{schema: schemaBundle, pkg: "m", name: "m.v1", raw: []byte(body)}
		if !strings.HasPrefix(body, "{") {
			d.raw = []byte("schema: olm.bundle\npackage: m\nname: m.v1\n" + body)
		}
		b, err := readBundle(d)
		if err != nil || b.check() != nil {
			return
		}
		if want, err := decodeBundle(d); err != nil || want.Image != b.Image || want.Version.String() != b.Version.String() {
			t.Errorf("read %+v, decoded %+v, %v", b, want, err)
		}
	})
}
