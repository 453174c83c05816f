package verify_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protodsse "github.com/sigstore/protobuf-specs/gen/pb-go/dsse"
	protorekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/kubectl-operator/kubectl-operator/preview/verify"
)

const (
	alice  = "alice@example.com"
	issuer = "https://accounts.example.com"
)

// instance is its own Sigstore deployment: certificate authority, transparency log and
// timestamp authority.
type instance struct{ *ca.VirtualSigstore }

func newInstance(t testing.TB) instance {
	t.Helper()
	sigstore, err := ca.NewVirtualSigstore()
	return instance{must(t, sigstore, err)}
}

// parts of a trusted root that a test leaves out or adds.
type parts struct{ noLog, noStamps, certificateLog bool }

func (i instance) rootFile(t testing.TB, p parts) string {
	t.Helper()
	logs, stamps, certLogs := i.logs(t, i.RekorLogs()), i.TimestampingAuthorities(), map[string]*root.TransparencyLog{}
	if p.noLog {
		logs = nil
	}
	if p.noStamps {
		stamps = nil
	}
	if p.certificateLog {
		certLogs = i.logs(t, i.CTLogs())
	}
	trusted, err := root.NewTrustedRoot(root.TrustedRootMediaType01, i.FulcioCertificateAuthorities(), certLogs, stamps, logs)
	data, err := must(t, trusted, err).MarshalJSON()
	return file(t, must(t, data, err))
}

// logs repairs what the testing authority leaves out of its logs: ids are
// bytes, and a trusted root file wants a hash function.
func (instance) logs(t testing.TB, logs map[string]*root.TransparencyLog) map[string]*root.TransparencyLog {
	t.Helper()
	for id, log := range logs {
		raw, err := hex.DecodeString(id)
		log.ID = must(t, raw, err)
	}
	return logs
}

func (i instance) trust(t testing.TB, issuer string, p parts) *verify.Trust {
	t.Helper()
	trust, err := verify.Load(verify.Signer{Identity: alice, Issuer: issuer, TrustedRoot: i.rootFile(t, p)})
	return must(t, trust, err)
}

// proofs say when a signature was made.
type proofs struct{ log, stamp bool }

var bothProofs = proofs{log: true, stamp: true}

// promise is the log's signature over an entry.
func (i instance) promise(t testing.TB, entry *tlog.Entry) ([]byte, tlog.RekorPayload) {
	t.Helper()
	payload := tlog.RekorPayload{
		Body:           base64.StdEncoding.EncodeToString(entry.TransparencyLogEntry().GetCanonicalizedBody()),
		IntegratedTime: entry.IntegratedTime().Unix(), LogIndex: entry.LogIndex(), LogID: hex.EncodeToString([]byte(entry.LogKeyID())),
	}
	set, err := i.RekorSignPayload(payload)
	return must(t, set, err), payload
}

// simple is what "cosign sign" puts next to an image, logged at a time.
func (i instance) simple(t testing.TB, identity, digest string, at time.Time, p proofs) verify.Artifact {
	t.Helper()
	payload := simplePayload(digest)
	signed, err := i.SignAtTime(identity, issuer, payload, at)
	entity := must(t, signed, err)
	content, err := entity.VerificationContent()
	leaf := must(t, content, err).Certificate()
	sig, err := entity.SignatureContent()
	annotations := map[string]string{
		"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(must(t, sig, err).Signature()),
		"dev.sigstore.cosign/certificate":    string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})),
	}
	if p.log {
		entries, err := entity.TlogEntries()
		set, entry := i.promise(t, must(t, entries, err)[0])
		annotations["dev.sigstore.cosign/bundle"] = string(asJSON(t, map[string]any{"SignedEntryTimestamp": set, "Payload": entry}))
	}
	if p.stamp {
		stamps, err := entity.Timestamps()
		annotations["dev.sigstore.cosign/rfc3161timestamp"] = string(asJSON(t, map[string]any{"SignedRFC3161Timestamp": must(t, stamps, err)[0]}))
	}
	return verify.Artifact{MediaType: verify.SimpleSigning, Payload: payload, Annotations: annotations}
}

// material is what a bundle carries in addition to the signature: certificate, promise
// of the log about an entry of a kind, and timestamp.
func (i instance) material(t testing.TB, entity *ca.TestEntity, kind string, p proofs) *protobundle.VerificationMaterial {
	t.Helper()
	content, err := entity.VerificationContent()
	material := &protobundle.VerificationMaterial{Content: &protobundle.VerificationMaterial_Certificate{
		Certificate: &protocommon.X509Certificate{RawBytes: must(t, content, err).Certificate().Raw},
	}}
	if p.log {
		entries, err := entity.TlogEntries()
		entry := must(t, entries, err)[0]
		set, _ := i.promise(t, entry)
		wire := entry.TransparencyLogEntry()
		wire.KindVersion = &protorekor.KindVersion{Kind: kind, Version: "0.0.1"}
		wire.InclusionPromise = &protorekor.InclusionPromise{SignedEntryTimestamp: set}
		material.TlogEntries = []*protorekor.TransparencyLogEntry{wire}
	}
	if p.stamp {
		stamps, err := entity.Timestamps()
		material.TimestampVerificationData = &protobundle.TimestampVerificationData{
			Rfc3161Timestamps: []*protocommon.RFC3161SignedTimestamp{{SignedTimestamp: must(t, stamps, err)[0]}},
		}
	}
	return material
}

// bundle is what "cosign sign --new-bundle-format" and attesting build systems put next
// to an image.
func (i instance) bundle(t testing.TB, identity, predicate, digest string, at time.Time, p proofs) verify.Artifact {
	t.Helper()
	attested, err := i.AttestAtTime(identity, issuer, statement(predicate, digest), at, true)
	entity := must(t, attested, err)
	material := i.material(t, entity, "dsse", p)
	sig, err := entity.SignatureContent()
	envelope := must(t, sig, err).EnvelopeContent().RawEnvelope()
	payload, err := base64.StdEncoding.DecodeString(envelope.Payload)
	raw, sigErr := base64.StdEncoding.DecodeString(envelope.Signatures[0].Sig)
	data, err := protojson.Marshal(&protobundle.Bundle{
		MediaType: bundleType, VerificationMaterial: material,
		Content: &protobundle.Bundle_DsseEnvelope{DsseEnvelope: &protodsse.Envelope{
			Payload: must(t, payload, err), PayloadType: envelope.PayloadType,
			Signatures: []*protodsse.Signature{{Sig: must(t, raw, sigErr)}},
		}},
	})
	return verify.Artifact{MediaType: bundleType, Payload: must(t, data, err)}
}

// blob is what "cosign sign-blob --bundle" writes next to a file, and the file's digest.
func (i instance) blob(t testing.TB, identity string, data []byte, at time.Time, p proofs) (verify.Artifact, string) {
	t.Helper()
	signed, err := i.SignAtTime(identity, issuer, data, at)
	entity := must(t, signed, err)
	material := i.material(t, entity, "hashedrekord", p)
	if p.log {
		wire := material.TlogEntries[0]
		proof, err := i.GetInclusionProof(wire.GetCanonicalizedBody())
		rootHash, hashErr := hex.DecodeString(*must(t, proof, err).RootHash)
		wire.InclusionProof = &protorekor.InclusionProof{
			LogIndex: *proof.LogIndex, RootHash: must(t, rootHash, hashErr), TreeSize: *proof.TreeSize,
			Checkpoint: &protorekor.Checkpoint{Envelope: *proof.Checkpoint},
		}
	}
	sig, err := entity.SignatureContent()
	sum := sha256.Sum256(data)
	encoded, marshalErr := protojson.Marshal(&protobundle.Bundle{
		MediaType: bundleType, VerificationMaterial: material,
		Content: &protobundle.Bundle_MessageSignature{MessageSignature: &protocommon.MessageSignature{
			MessageDigest: &protocommon.HashOutput{Algorithm: protocommon.HashAlgorithm_SHA2_256, Digest: sum[:]},
			Signature:     must(t, sig, err).Signature(),
		}},
	})
	return verify.Artifact{MediaType: bundleType, Payload: must(t, encoded, marshalErr)}, "sha256:" + hex.EncodeToString(sum[:])
}

// A file with a bundle next to it, as plugin sets have them, is held to the same
// identity, log and time as an image.
func TestKeylessSignaturesOfFiles(t *testing.T) {
	sigstore, foreign := newInstance(t), newInstance(t)
	soon, late := time.Now().Add(time.Minute), time.Now().Add(20*time.Minute)
	trust := sigstore.trust(t, issuer, parts{})
	data := []byte("#!/bin/sh\nneo\n")
	made := func(i instance, identity string, at time.Time, p proofs) verify.Artifact {
		artifact, _ := i.blob(t, identity, data, at, p)
		return artifact
	}
	whole, sum := sigstore.blob(t, alice, data, soon, bothProofs)
	for _, test := range []struct {
		name     string
		trust    *verify.Trust
		artifact verify.Artifact
		digest   string
		want     string // of the error; empty when verified
	}{
		{"logged and stamped", trust, whole, sum, ""},
		{"logged", trust, made(sigstore, alice, soon, proofs{log: true}), sum, ""},
		{"of another file", trust, whole, otherDigest, "another digest"},
		{"by somebody else", trust, made(sigstore, "mallory@example.com", soon, bothProofs), sum, "got"},
		{"by another instance", trust, made(foreign, alice, soon, bothProofs), sum, "in no transparency log"},
		{"in no log", trust, made(sigstore, alice, soon, proofs{stamp: true}), sum, "in no transparency log"},
		{"logged when the certificate had expired", trust, made(sigstore, alice, late, bothProofs), sum, "had expired"},
		{"where a key is wanted", trustKeys(t, newKey(t)), whole, sum, "not by a key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := verify.Check(verify.Required, test.trust, test.digest, []verify.Artifact{test.artifact})
			if test.want != "" {
				mustRefuse(t, err, test.want)
				return
			}
			if err != nil || got.Status != verify.Verified || !strings.Contains(got.Identity, alice) || !strings.Contains(got.Identity, issuer) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestKeylessSignatures(t *testing.T) {
	sigstore, foreign := newInstance(t), newInstance(t)
	soon := time.Now().Add(time.Minute) // the certificate holds for ten minutes from now
	late := time.Now().Add(20 * time.Minute)
	trust := sigstore.trust(t, issuer, parts{})
	swapped := sigstore.simple(t, alice, digest, soon, bothProofs)
	swapped.Payload = simplePayload(otherDigest)

	for _, test := range []struct {
		name     string
		trust    *verify.Trust
		artifact verify.Artifact
		want     string // of the error; empty when verified
	}{
		{"cosign's payload, logged", trust, sigstore.simple(t, alice, digest, soon, proofs{log: true}), ""},
		{"cosign's payload, logged and stamped", trust, sigstore.simple(t, alice, digest, soon, bothProofs), ""},
		{"a bundle, logged and stamped", trust, sigstore.bundle(t, alice, cosignSign, digest, soon, bothProofs), ""},
		{"a stamp alone, where the root names no log", sigstore.trust(t, issuer, parts{noLog: true}), sigstore.simple(t, alice, digest, soon, proofs{stamp: true}), ""},
		{"a stamp alone, where the root names a log", trust, sigstore.simple(t, alice, digest, soon, proofs{stamp: true}), "in no transparency log"},
		{"no proof of the time at all", sigstore.trust(t, issuer, parts{noLog: true}), sigstore.simple(t, alice, digest, soon, proofs{}), "proves when"},
		{"a bundle without proof of the time", sigstore.trust(t, issuer, parts{noLog: true}), sigstore.bundle(t, alice, cosignSign, digest, soon, proofs{}), "proves when"},
		{"cosign's payload, logged when the certificate had expired", trust, sigstore.simple(t, alice, digest, late, proofs{log: true}), "had expired"},
		{"a bundle, logged when the certificate had expired", trust, sigstore.bundle(t, alice, cosignSign, digest, late, bothProofs), "had expired"},
		{"cosign's payload by another instance", trust, foreign.simple(t, alice, digest, soon, bothProofs), "in no transparency log"},
		{"a bundle by another instance", trust, foreign.bundle(t, alice, cosignSign, digest, soon, bothProofs), "in no transparency log"},
		{"cosign's payload by somebody else", trust, sigstore.simple(t, "mallory@example.com", digest, soon, bothProofs), "got"},
		{"a bundle by somebody else", trust, sigstore.bundle(t, "mallory@example.com", cosignSign, digest, soon, bothProofs), "got"},
		{"an identity that only begins like ours", trust, sigstore.simple(t, alice+".evil.example", digest, soon, bothProofs), "got"},
		{"an issuer that vouches for everybody", sigstore.trust(t, "https://other.example.com", parts{}), sigstore.simple(t, alice, digest, soon, bothProofs), "got"},
		{"cosign's payload for another digest", trust, sigstore.simple(t, alice, otherDigest, soon, bothProofs), "for another digest"},
		{"a bundle for another digest", trust, sigstore.bundle(t, alice, cosignSign, otherDigest, soon, bothProofs), "another digest"},
		{"a payload swapped after it was signed", trust, swapped, "for another payload"},
		{"an attestation that is no signature", trust, sigstore.bundle(t, alice, "https://spdx.dev/Document", digest, soon, bothProofs), "carries no signature"},
		{"a certificate in no certificate log, where the root names one", sigstore.trust(t, issuer, parts{certificateLog: true}), sigstore.simple(t, alice, digest, soon, bothProofs), "in no certificate log"},
		{"a key's payload, where an identity is wanted", trust, newKey(t).simple(t, digest), "by a key"},
		{"a key's bundle, where an identity is wanted", trust, newKey(t).bundle(t, cosignSign, digest), "in no transparency log"},
		{"a certificate's bundle, where a key is wanted", trustKeys(t, newKey(t)), sigstore.bundle(t, alice, cosignSign, digest, soon, bothProofs), "not by a key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := verify.Check(verify.Required, test.trust, digest, []verify.Artifact{test.artifact})
			if test.want != "" {
				mustRefuse(t, err, test.want)
				return
			}
			if err != nil || got.Status != verify.Verified || !strings.Contains(got.Identity, alice) || !strings.Contains(got.Identity, issuer) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestATrustedRootThatProvesNoTimeIsRefused(t *testing.T) {
	_, err := verify.Load(verify.Signer{Identity: alice, Issuer: issuer, TrustedRoot: newInstance(t).rootFile(t, parts{noLog: true, noStamps: true})})
	if err == nil || !strings.Contains(err.Error(), "nothing could prove when") {
		t.Errorf("got %v", err)
	}
}
