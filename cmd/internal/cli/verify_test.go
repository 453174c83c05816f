package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
	"github.com/kubectl-operator/kubectl-operator/preview/verify"
)

// publisher signs images as "cosign sign --key" does.
type publisher struct {
	key  *ecdsa.PrivateKey
	file string // of the public key
}

func newPublisher(t *testing.T) publisher {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return publisher{key, write(t, "cosign.pub", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))}
}

func (p publisher) sign(t *testing.T, digest string) source.Signature {
	t.Helper()
	payload := fmt.Appendf(nil, `{"critical":{"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"}}`, digest)
	sum := sha256.Sum256(payload)
	sig, err := ecdsa.SignASN1(rand.Reader, p.key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return source.Signature{
		MediaType: verify.SimpleSigning, Payload: payload,
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(sig)},
	}
}

// signing is a registry with a bundle in three states, and another user who looks.
type signing struct {
	registry           sourcetest.Registry
	cache              string
	config             string // the user's configuration, empty for none
	ours, theirs       publisher
	signed, sbom       string // digest of the signed bundle, and of what refers to it
	unsigned, tampered string
	down               bool // the registry answers nothing any more
}

func newSigning(t *testing.T) *signing {
	t.Helper()
	s := &signing{cache: t.TempDir(), ours: newPublisher(t), theirs: newPublisher(t)}
	s.registry = sourcetest.TLS(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if s.down {
				http.Error(w, "gone", http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	bundle := bundleFiles(t)
	s.unsigned = s.push(t, "unsigned", bundle)
	s.signed = s.push(t, "signed", bundle)
	signature := s.ours.sign(t, s.signed)
	s.registry.Tag(t, "org/signed", s.signed, "sig", s.theirs.sign(t, s.signed), signature)
	s.sbom = s.registry.Refer(t, "org/signed", s.signed, "application/spdx+json", source.Signature{MediaType: "application/spdx+json", Payload: []byte("{}")})
	for _, file := range bundle {
		file.Data = append(file.Data, '\n') // one byte
		break
	}
	s.tampered = s.push(t, "tampered", bundle)
	s.registry.Tag(t, "org/tampered", s.tampered, "sig", signature)
	return s
}

func (s *signing) push(t *testing.T, repo string, files fs.FS) string {
	t.Helper()
	digest, err := source.PushDir(t.Context(), s.registry.Host+"/org/"+repo+":v1", files, nil, s.registry.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// bundleFiles returns the files of a bundle of this repository, free to change.
func bundleFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	dir := os.DirFS(filepath.Join("..", "..", "..", "testdata", "bundles", "redis", "2.4.1"))
	out := fstest.MapFS{}
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, name)
		out[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *signing) image(repo, digest string) string {
	return s.registry.Host + "/org/" + repo + "@" + digest
}

// preview runs the real program with the JSON form, no cluster, and a
// configuration.
func (s *signing) preview(t *testing.T, args ...string) (int, *preview.Plan, string) {
	t.Helper()
	o := testOptions(t)
	config := s.config
	o.Getenv = func(name string) string {
		if name == "KUBECTL_OPERATOR_CONFIG" {
			return config
		}
		return ""
	}
	args = append([]string{"preview", "--offline", "-o", "json", "--cache-dir", s.cache, "--ca-file", s.registry.CAFile}, args...)
	code := Main(t.Context(), args, o)
	plan := &preview.Plan{}
	if code == exitDone {
		if err := json.Unmarshal([]byte(contents(t, o.Out)), plan); err != nil {
			t.Fatal(err)
		}
	}
	return code, plan, contents(t, o.Err)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSignedBundles(t *testing.T) {
	s := newSigning(t)
	for _, test := range []struct {
		name   string
		args   []string
		code   int
		status string // of the plan
		rule   string // of the finding about signatures
		errors string
	}{
		{"signed by the key passes required", []string{s.image("signed", s.signed), "--verify", "required", "--verify-key", s.ours.file}, 0, "verified", "", ""},
		{"and by its tag", []string{s.registry.Host + "/org/signed:v1", "--verify", "required", "--verify-key", s.ours.file}, 0, "verified", "", ""},
		{"a key alone means required", []string{s.image("unsigned", s.unsigned), "--verify-key", s.ours.file}, 5, "", "", "carries no signature"},
		{"one byte changed, the old signature copied", []string{s.image("tampered", s.tampered), "--verify", "required", "--verify-key", s.ours.file}, 5, "", "", "for another digest"},
		{"which if-present refuses as well", []string{s.image("tampered", s.tampered), "--verify", "if-present", "--verify-key", s.ours.file}, 5, "", "", "for another digest"},
		{"signed by another key", []string{s.image("signed", s.signed), "--verify", "required", "--verify-key", newPublisher(t).file}, 5, "", "", "by another key"},
		{"unsigned, and a signature is required", []string{s.image("unsigned", s.unsigned), "--verify", "required", "--verify-key", s.ours.file}, 5, "", "", "carries no signature"},
		{"unsigned, and a signature is welcome", []string{s.image("unsigned", s.unsigned), "--verify", "if-present", "--verify-key", s.ours.file}, 0, "unverified", rules.SignatureMissing.Name, ""},
		{"required, and nobody is trusted", []string{s.image("signed", s.signed), "--verify", "required"}, 5, "", "", "nothing says who must have signed"},
		{"nobody is trusted", []string{s.image("signed", s.signed)}, 0, "unverified", "", ""},
		{"a directory, and a signature is required", []string{filepath.Join("..", "..", "..", "testdata", "bundles", "redis", "2.4.1"), "--verify", "required", "--verify-key", s.ours.file}, 5, "", "", "carries none"},
		{"off and a key", []string{s.image("signed", s.signed), "--verify", "off", "--verify-key", s.ours.file}, 1, "", "", "looks at no signature"},
		{"a mode that is none", []string{s.image("signed", s.signed), "--verify", "maybe"}, 1, "", "", "want required, if-present or off"},
		{"half a certificate's signer", []string{s.image("signed", s.signed), "--certificate-identity", "a"}, 1, "", "", "all three"},
		{"a key that is not there", []string{s.image("signed", s.signed), "--verify-key", "/nowhere"}, 1, "", "", "no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, plan, stderr := s.preview(t, test.args...)
			if code != test.code || !strings.Contains(stderr, test.errors) {
				t.Fatalf("exit code %d, %q; want %d with %q", code, stderr, test.code, test.errors)
			}
			if code == exitDone {
				expectSigned(t, plan, test.status, test.rule)
			}
		})
	}
}

// A file in place of a signature that is none is refused like an invalid signature: a
// retry does not help.
func TestOddSignaturesAreRefused(t *testing.T) {
	s := newSigning(t)
	s.registry.Manifest(t, "org/unsigned", strings.Replace(s.unsigned, ":", "-", 1)+".sig",
		"application/vnd.oci.image.index.v1+json", []byte(`{"schemaVersion":2,"manifests":[]}`))
	for _, mode := range []string{"required", "if-present"} {
		code, _, stderr := s.preview(t, s.image("unsigned", s.unsigned), "--verify", mode, "--verify-key", s.ours.file)
		if code != 5 || !strings.Contains(stderr, "an index holds no signature") {
			t.Errorf("%s: exit code %d, %q", mode, code, stderr)
		}
	}
}

func expectSigned(t *testing.T, plan *preview.Plan, status, rule string) {
	t.Helper()
	if got := plan.Packages[0].Verification.Status; got != status {
		t.Errorf("status %q, want %q", got, status)
	}
	var found []string
	for _, f := range plan.Findings {
		if strings.HasPrefix(f.Rule, "signature-") {
			found = append(found, f.Rule)
			if f.Severity != preview.Warning || f.ID != f.Rule+"/package/redis" {
				t.Errorf("finding %+v", f)
			}
		}
	}
	if strings.Join(found, " ") != rule {
		t.Errorf("findings %q, want %q", found, rule)
	}
}

func TestWhatLiesBesideABundleIsListed(t *testing.T) {
	s := newSigning(t)
	for _, flags := range [][]string{nil, {"--verify-key", s.ours.file}} {
		code, plan, stderr := s.preview(t, append([]string{s.image("signed", s.signed)}, flags...)...)
		if code != exitDone {
			t.Fatalf("%q: exit code %d, %s", flags, code, stderr)
		}
		var found []string
		for _, r := range plan.Packages[0].Referrers {
			found = append(found, r.ArtifactType+" "+r.Digest)
		}
		if len(found) != 2 || found[0] != "application/spdx+json "+s.sbom || !strings.HasPrefix(found[1], "application/vnd.dev.cosign.artifact.sig.v1+json sha256:") {
			t.Errorf("%q: got %q", flags, found)
		}
	}
}

func TestASignatureIsVerifiedAgainFromTheCacheAlone(t *testing.T) {
	s := newSigning(t)
	args := []string{s.registry.Host + "/org/signed:v1", "--verify", "required", "--verify-key", s.ours.file}
	_, first, _ := s.preview(t, args...)
	s.down = true
	code, again, stderr := s.preview(t, args...)
	if code != exitDone || again.Packages[0].Verification != first.Packages[0].Verification || again.Digest != first.Digest {
		t.Errorf("exit code %d, %s; got %+v, want %+v", code, stderr, again.Packages, first.Packages)
	}
	args[len(args)-1] = s.theirs.file // they signed too
	if code, _, stderr := s.preview(t, args...); code != exitDone {
		t.Errorf("another signer: exit code %d, %s", code, stderr)
	}
	args[len(args)-1] = newPublisher(t).file
	if code, _, stderr := s.preview(t, args...); code == exitDone {
		t.Errorf("nobody's key verifies: %s", stderr)
	}
}

func TestPoliciesOfTheConfiguration(t *testing.T) {
	s := newSigning(t)
	policies := func(lines ...string) string {
		return write(t, "config.yaml", "verification:\n  policies:\n  - "+strings.Join(lines, "\n  - ")+"\n")
	}
	host := s.registry.Host
	required := policies(
		fmt.Sprintf("{prefix: %q, mode: required, key: %q}", host+"/org", s.ours.file),
		fmt.Sprintf("{prefix: %q, mode: if-present, key: %q}", host+"/org/unsigned", s.ours.file))
	for _, test := range []struct {
		name, config string
		args         []string
		code         int
		status, rule string
		errors       string
	}{
		{"the policy's key verifies", required, []string{s.image("signed", s.signed)}, 0, "verified", "", ""},
		{"the policy refuses", required, []string{s.image("tampered", s.tampered)}, 5, "", "", "for another digest"},
		{"the longer prefix wins", required, []string{s.image("unsigned", s.unsigned)}, 0, "unverified", rules.SignatureMissing.Name, ""},
		{"the flag is stricter", required, []string{s.image("unsigned", s.unsigned), "--verify", "required"}, 5, "", "", "carries no signature"},
		{"the flag skips verification, which is a finding", required, []string{s.image("tampered", s.tampered), "--verify", "off"}, 0, "unverified", rules.SignatureIgnored.Name, ""},
		{"the flag names another signer", required, []string{s.image("signed", s.signed), "--verify-key", newPublisher(t).file}, 5, "", "", "by another key"},
		{"required by policy, and nobody is trusted", policies("{prefix: '', mode: required}"), []string{s.image("signed", s.signed)}, 5, "", "", "nothing says who must have signed"},
		{"two policies for one prefix", policies("{prefix: a.example, mode: 'off'}", "{prefix: A.example, mode: required}"), []string{s.image("signed", s.signed)}, 1, "", "", "one prefix has one policy"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.config = test.config
			code, plan, stderr := s.preview(t, test.args...)
			if code != test.code || !strings.Contains(stderr, test.errors) {
				t.Fatalf("exit code %d, %q; want %d with %q", code, stderr, test.code, test.errors)
			}
			if code == exitDone {
				expectSigned(t, plan, test.status, test.rule)
			}
		})
	}
}

func TestCatalogsAreHeldToPoliciesToo(t *testing.T) {
	s := newSigning(t)
	catalog := fstest.MapFS{"configs/redis.yaml": &fstest.MapFile{Data: fmt.Appendf(nil, `---
schema: olm.package
name: redis
defaultChannel: stable
---
schema: olm.channel
package: redis
name: stable
entries:
- name: redis.v2.4.1
---
schema: olm.bundle
package: redis
name: redis.v2.4.1
image: %s
properties:
- type: olm.package
  value: {packageName: redis, version: 2.4.1}
`, s.image("signed", s.signed))}}
	labels := map[string]string{source.LabelConfigs: "/configs"}
	digest, err := source.PushDir(t.Context(), s.registry.Host+"/org/catalog:v1", catalog, labels, s.registry.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"redis", "--catalog", s.registry.Host + "/org/catalog@" + digest, "--verify-key", s.ours.file}
	if code, _, stderr := s.preview(t, args...); code != exitRefused || !strings.Contains(stderr, digest+" carries no signature") {
		t.Errorf("unsigned catalog: exit code %d, %q", code, stderr)
	}
	s.registry.Tag(t, "org/catalog", digest, "sig", s.ours.sign(t, digest))
	code, plan, stderr := s.preview(t, args...)
	if code != exitDone {
		t.Fatalf("signed catalog: exit code %d, %q", code, stderr)
	}
	via := plan.Packages[0].Via[0].Verification
	if plan.Packages[0].Verification.Status != "verified" || via == nil || via.Status != "verified" {
		t.Errorf("got %+v through %+v", plan.Packages[0].Verification, via)
	}
}

func TestAPlanFileIsNotVerifiedAgain(t *testing.T) {
	code, _, stderr := runMain(t, "install", "--plan", "plan.tgz", "--yes", "--verify", "required")
	if code != exitError || !strings.Contains(stderr, "when the plan was made") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}
