package source_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

const (
	simpleSigning  = "application/vnd.dev.cosign.simplesigning.v1+json"
	sigstoreBundle = "application/vnd.dev.sigstore.bundle.v0.3+json"
	cosignSig      = "application/vnd.dev.cosign.artifact.sig.v1+json"
	spdx           = "application/spdx+json"
)

func signature(mediaType, text string) source.Signature {
	return source.Signature{MediaType: mediaType, Payload: []byte(text), Annotations: map[string]string{"for": text[:min(len(text), 10)]}}
}

func pinned(t testing.TB, f *source.Fetcher, text string) source.Pin {
	t.Helper()
	r, err := ref.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	pin, err := f.Pin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return pin
}

func payloads(signatures []source.Signature) []string {
	var out []string
	for _, s := range signatures {
		out = append(out, s.MediaType+" "+string(s.Payload)+" "+s.Annotations["for"])
	}
	slices.Sort(out)
	return out
}

// withoutReferrers is a registry from before OCI 1.1.
func withoutReferrers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/referrers/") {
			http.Error(w, "404 page not found", http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func TestSignaturesAreFoundByTagAndByReferrerAndAgainOffline(t *testing.T) {
	registry := sourcetest.TLS(t)
	digest := push(t, registry, "org/b:v1", bundleDir(), nil)
	sig := registry.Tag(t, "org/b", digest, "sig", signature(simpleSigning, "one"), signature(simpleSigning, "two"))
	bundle := registry.Refer(t, "org/b", digest, sigstoreBundle, signature(sigstoreBundle, "three"))
	sbom := registry.Refer(t, "org/b", digest, spdx, signature(spdx, "not read"))
	wantReferrers := []preview.Referrer{{ArtifactType: spdx, Digest: sbom}, {ArtifactType: cosignSig, Digest: sig}, {ArtifactType: sigstoreBundle, Digest: bundle}}
	want := []string{simpleSigning + " one one", simpleSigning + " two two", sigstoreBundle + " three three"}

	o := registry.Options(t)
	for _, offline := range []bool{false, true} {
		o.Offline = offline
		f := source.New(o)
		pin := pinned(t, f, registry.Host+"/org/b@"+digest)
		signatures, referrers, err := f.Signatures(t.Context(), pin)
		if err != nil {
			t.Fatal(err)
		}
		if got := payloads(signatures); !slices.Equal(got, want) {
			t.Errorf("offline %t: got %q", offline, got)
		}
		listed, err := f.Referrers(t.Context(), pin)
		if err != nil || !slices.Equal(referrers, wantReferrers) || !slices.Equal(listed, wantReferrers) {
			t.Errorf("offline %t: got %v and %v, %v", offline, referrers, listed, err)
		}
	}
}

// listReferrers stores the list of referrers that a client keeps under a tag.
func listReferrers(t *testing.T, registry sourcetest.Registry, digest string, manifests []any) {
	t.Helper()
	const mediaType = "application/vnd.oci.image.index.v1+json"
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": mediaType, "manifests": manifests})
	if err != nil {
		t.Fatal(err)
	}
	registry.Manifest(t, "org/b", strings.Replace(digest, ":", "-", 1), mediaType, index)
}

// A client maintains the list of such a registry. cosign 2.6 writes the type of the empty
// config as the artifact type.
func TestSignaturesOfRegistriesWithoutTheReferrersAPI(t *testing.T) {
	for name, listedAs := range map[string]string{
		"listed by its type": sigstoreBundle, "by the type of its empty config": "application/vnd.oci.empty.v1+json", "without a type": "",
	} {
		t.Run(name, func(t *testing.T) {
			registry := sourcetest.TLS(t, withoutReferrers)
			digest := push(t, registry, "org/b:v1", bundleDir(), nil)
			bundle := registry.Refer(t, "org/b", digest, sigstoreBundle, signature(sigstoreBundle, "one"))
			other := registry.Refer(t, "org/b", digest, spdx, signature(spdx, "not read"))
			var manifests []any
			for _, d := range []string{bundle, other} {
				manifests = append(manifests, map[string]any{"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": d, "size": 1, "artifactType": listedAs})
			}
			listReferrers(t, registry, digest, manifests)
			f := source.New(registry.Options(t))
			signatures, referrers, err := f.Signatures(t.Context(), pinned(t, f, registry.Host+"/org/b@"+digest))
			if err != nil {
				t.Fatal(err)
			}
			types := []string{}
			for _, r := range referrers {
				types = append(types, r.ArtifactType)
			}
			wantTypes, want := []string{spdx, sigstoreBundle}, []string{sigstoreBundle + " one one"}
			if listedAs == sigstoreBundle { // what is listed with a type is not asked again
				wantTypes, want = []string{sigstoreBundle, sigstoreBundle}, []string{spdx + " not read not read", sigstoreBundle + " one one"}
			}
			if !slices.Equal(types, wantTypes) {
				t.Errorf("the types are %q, want %q", types, wantTypes)
			}
			if got := payloads(signatures); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Every possible signature is read, up to a bound.
func TestManyReferrersWithoutATypeAreRefused(t *testing.T) {
	registry := sourcetest.TLS(t, withoutReferrers)
	digest := push(t, registry, "org/b:v1", bundleDir(), nil)
	bundle := registry.Refer(t, "org/b", digest, sigstoreBundle, signature(sigstoreBundle, "one"))
	without := map[string]any{"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": bundle, "size": 1}
	listReferrers(t, registry, digest, slices.Repeat([]any{without}, 257))
	f := source.New(registry.Options(t))
	_, _, err := f.Signatures(t.Context(), pinned(t, f, registry.Host+"/org/b@"+digest))
	if _, unreadable := errors.AsType[*source.UnreadableSignature](err); !unreadable || !strings.Contains(err.Error(), "more than 256 manifests are listed without their type") {
		t.Errorf("got %v", err)
	}
}

func TestNothingBesideAnImageIsNoError(t *testing.T) {
	for name, front := range map[string][]sourcetest.Middleware{"with the referrers API": nil, "without": {withoutReferrers}} {
		registry := sourcetest.TLS(t, front...)
		digest := push(t, registry, "org/b:v1", bundleDir(), nil)
		f := source.New(registry.Options(t))
		signatures, referrers, err := f.Signatures(t.Context(), pinned(t, f, registry.Host+"/org/b@"+digest))
		if err != nil || len(signatures) != 0 || len(referrers) != 0 {
			t.Errorf("%s: got %v, %v, %v", name, signatures, referrers, err)
		}
	}
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := source.New(source.Options{CacheDir: t.TempDir()})
	if signatures, _, err := f.Signatures(t.Context(), pinned(t, f, directory)); err != nil || len(signatures) != 0 {
		t.Errorf("directory: got %v, %v", signatures, err)
	}
}

// A registry that does not answer must not pass for one that has nothing.
func TestFaultsOfARegistryAreNoMissingSignatures(t *testing.T) {
	big := strings.Repeat("x", 5<<20)
	for _, test := range []struct {
		name, path string
		answer     http.HandlerFunc
		want       string
	}{
		{"the referrers API is forbidden", "/referrers/", status(http.StatusForbidden), "refuses access"},
		{"the tag is forbidden", ".sig", status(http.StatusForbidden), "refuses access"},
		{"an endless list", "/referrers/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
			_, _ = w.Write([]byte(`{"schemaVersion":2,"manifests":[],"x":"` + big + `"}`))
		}, "larger than its cap"},
		{"a list that is not JSON", "/referrers/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
			_, _ = w.Write([]byte("x"))
		}, "not JSON"},
		{"a crowd", "/referrers/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
			one := fmt.Sprintf(`{"mediaType":"a","size":1,"digest":"sha256:%064d"}`, 1)
			_, _ = w.Write([]byte(`{"schemaVersion":2,"manifests":[` + strings.Repeat(one+",", 1000) + one + `]}`))
		}, "at most 1000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			broken := false
			registry := sourcetest.TLS(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if broken && strings.Contains(r.URL.Path, test.path) {
						test.answer(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			digest := push(t, registry, "org/b:v1", bundleDir(), nil)
			broken = true
			f := source.New(registry.Options(t))
			_, _, err := f.Signatures(t.Context(), pinned(t, f, registry.Host+"/org/b@"+digest))
			mustFail(t, err, test.want)
		})
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// One broken neighbour must not hide a good one, nor go unmentioned.
func TestASignatureThatCannotBeReadDoesNotHideTheOthers(t *testing.T) {
	registry := sourcetest.TLS(t)
	digest := push(t, registry, "org/b:v1", bundleDir(), nil)
	registry.Tag(t, "org/b", digest, "sig", signature(simpleSigning, "good"), signature(simpleSigning, strings.Repeat("x", 5<<20)))
	registry.Refer(t, "org/b", digest, sigstoreBundle) // without a layer
	f := source.New(registry.Options(t))
	signatures, _, err := f.Signatures(t.Context(), pinned(t, f, registry.Host+"/org/b@"+digest))
	if got := payloads(signatures); len(got) != 1 || !strings.HasSuffix(got[0], "good") {
		t.Errorf("got %d signatures, %v", len(got), err)
	}
	mustFail(t, err, "larger than its cap")
	mustFail(t, err, "no layers")
}

func TestSignaturesNeverSeenAreNotThereOffline(t *testing.T) {
	registry := sourcetest.TLS(t)
	digest := push(t, registry, "org/b:v1", bundleDir(), nil)
	o := registry.Options(t)
	o.Offline = true
	f := source.New(o)
	_, _, err := f.Signatures(t.Context(), pinned(t, f, registry.Host+"/org/b@"+digest))
	if !errors.Is(err, source.ErrNotCached) {
		t.Errorf("got %v", err)
	}
}

func TestAMirrorBringsItsSignatures(t *testing.T) {
	registry, mirror := sourcetest.TLS(t), sourcetest.TLS(t)
	digest := push(t, registry, "org/b:v1", bundleDir(), nil)
	mirror.Tag(t, "copy/b", digest, "sig", signature(simpleSigning, "mirrored"))
	o := mirror.Options(t)
	o.Mirrors = []source.Mirror{{Source: registry.Host + "/org", Mirrors: []string{mirror.Host + "/copy"}, Never: true}}
	f := source.New(o)
	signatures, _, err := f.Signatures(t.Context(), pinned(t, f, registry.Host+"/org/b@"+digest))
	if got := payloads(signatures); err != nil || len(got) != 1 {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestALayoutBringsItsSignatures(t *testing.T) {
	registry := sourcetest.Plain(t)
	digest := push(t, registry, "org/b:v1", bundleDir(), nil)
	hex := strings.TrimPrefix(digest, "sha256:")
	registry.Tag(t, "org/b", digest, "sig", signature(simpleSigning, "tagged"))
	referrer := registry.Refer(t, "org/b", digest, sigstoreBundle, signature(sigstoreBundle, "referred"))
	dir := layoutOf(t, map[string]v1.Image{
		"v1":                     pull(t, registry, "org/b:v1"),
		"sha256-" + hex + ".sig": pull(t, registry, "org/b:sha256-"+hex+".sig"),
		"":                       pull(t, registry, "org/b@"+referrer),
	})
	f := source.New(source.Options{CacheDir: t.TempDir()})
	signatures, referrers, err := f.Signatures(t.Context(), pinned(t, f, "oci-layout:"+dir+":v1"))
	if err != nil || len(referrers) != 2 || len(signatures) != 2 {
		t.Errorf("got %q, %v, %v", payloads(signatures), referrers, err)
	}
}

func TestAPoisonedListOfNeighboursIsNone(t *testing.T) {
	registry := sourcetest.TLS(t)
	digest := push(t, registry, "org/b:v1", bundleDir(), nil)
	registry.Tag(t, "org/b", digest, "sig", signature(simpleSigning, "one"))
	o := registry.Options(t)
	f := source.New(o)
	pin := pinned(t, f, registry.Host+"/org/b@"+digest)
	if _, _, err := f.Signatures(t.Context(), pin); err != nil {
		t.Fatal(err)
	}
	entries, err := filepath.Glob(filepath.Join(o.CacheDir, "resolved", "*"))
	if err != nil || len(entries) == 0 {
		t.Fatalf("nothing is remembered: %v", err)
	}
	o.Offline = true
	for _, text := range []string{"x", `{"referrers":[{"artifactType":"a","digest":"../../etc/passwd"}]}`} {
		for _, name := range entries {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := source.New(o).Signatures(t.Context(), pin)
		mustFail(t, err, "--offline forbids")
	}
}

// An artifact that is no signature is told apart from a registry that failed.
func TestOddSignaturesAreNoFaultsOfTheRegistry(t *testing.T) {
	registry := sourcetest.TLS(t)
	big := signature(simpleSigning, strings.Repeat("x", 5<<20))
	var many []source.Signature
	for range 200 {
		many = append(many, signature(simpleSigning, "one"))
	}
	for name, put := range map[string]func(repo, digest string){
		"a payload of 5 MB": func(repo, digest string) { registry.Tag(t, repo, digest, "sig", big) },
		"200 layers":        func(repo, digest string) { registry.Tag(t, repo, digest, "sig", many...) },
		"an index": func(repo, digest string) {
			registry.Manifest(t, repo, strings.Replace(digest, ":", "-", 1)+".sig", indexType, []byte(`{"schemaVersion":2,"manifests":[]}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			digest := push(t, registry, "org/b:v1", bundleDir(), nil)
			repo := "org/b"
			put(repo, digest)
			f := source.New(registry.Options(t))
			_, _, err := f.Signatures(t.Context(), pinned(t, f, registry.Host+"/org/b@"+digest))
			if _, odd := errors.AsType[*source.UnreadableSignature](err); !odd {
				t.Errorf("got %v", err)
			}
		})
	}
}

// An SBOM that cosign attested is told from a signature by what it says to be.
func TestAttestationsAreListedByWhatTheySayToBe(t *testing.T) {
	const predicate = "https://spdx.dev/Document"
	registry := sourcetest.TLS(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.URL.Path, "/referrers/") {
				next.ServeHTTP(w, r)
				return
			}
			whole := httptest.NewRecorder()
			next.ServeHTTP(whole, r)
			var index v1.IndexManifest
			_ = json.Unmarshal(whole.Body.Bytes(), &index)
			for i := range index.Manifests { // as the specification has it, of the manifest
				index.Manifests[i].Annotations = map[string]string{"dev.sigstore.bundle.predicateType": predicate}
			}
			w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
			_ = json.NewEncoder(w).Encode(index)
		})
	})
	digest := push(t, registry, "org/b:v1", bundleDir(), nil)
	sbom := registry.Refer(t, "org/b", digest, sigstoreBundle, signature(sigstoreBundle, "sbom"))
	f := source.New(registry.Options(t))
	_, referrers, err := f.Signatures(t.Context(), pinned(t, f, registry.Host+"/org/b@"+digest))
	want := []preview.Referrer{{ArtifactType: sigstoreBundle, PredicateType: predicate, Digest: sbom}}
	if err != nil || !slices.Equal(referrers, want) {
		t.Errorf("got %+v, %v", referrers, err)
	}
}
