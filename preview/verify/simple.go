package verify

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protorekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/bundle"
)

// The annotations of a simple signing layer.
const (
	annotationSignature   = "dev.cosignproject.cosign/signature"   // base64
	annotationCertificate = "dev.sigstore.cosign/certificate"      // PEM
	annotationLogEntry    = "dev.sigstore.cosign/bundle"           // JSON, logEntry
	annotationTimestamp   = "dev.sigstore.cosign/rfc3161timestamp" // JSON, timestamp
	simpleBundleType      = bundlePrefix + "+json;version=0.1"     // the one with inclusion promises
)

// logEntry is the entry in Rekor's transparency log with Rekor's signed promise to
// include it.
type logEntry struct {
	SignedEntryTimestamp []byte
	Payload              struct {
		Body           []byte `json:"body"` // canonical JSON of the entry
		IntegratedTime int64  `json:"integratedTime"`
		LogIndex       int64  `json:"logIndex"`
		LogID          string `json:"logID"` // hex
	}
}

// timestamp is the token of a timestamp authority (RFC 3161).
type timestamp struct {
	SignedRFC3161Timestamp []byte
}

// simpleBundle converts a layer with cosign's simple signing payload into a bundle, as
// the keyless verifier takes it: a signature over the payload, with its certificate and
// the proofs of its time.
func simpleBundle(a Artifact) (*bundle.Bundle, error) {
	sig, err := base64.StdEncoding.DecodeString(a.Annotations[annotationSignature])
	if err != nil || len(sig) == 0 {
		return nil, errors.New("its annotation holds no signature")
	}
	leaf, err := certificate(a.Annotations[annotationCertificate])
	if err != nil {
		return nil, err
	}
	material := &protobundle.VerificationMaterial{
		Content: &protobundle.VerificationMaterial_X509CertificateChain{
			X509CertificateChain: &protocommon.X509CertificateChain{Certificates: []*protocommon.X509Certificate{{RawBytes: leaf}}},
		},
	}
	if text := a.Annotations[annotationLogEntry]; text != "" {
		entry, err := readLogEntry(text)
		if err != nil {
			return nil, err
		}
		material.TlogEntries = []*protorekor.TransparencyLogEntry{entry}
	}
	if text := a.Annotations[annotationTimestamp]; text != "" {
		var t timestamp
		if err := json.Unmarshal([]byte(text), &t); err != nil {
			return nil, errors.New("its timestamp is not JSON of the expected shape")
		}
		material.TimestampVerificationData = &protobundle.TimestampVerificationData{
			Rfc3161Timestamps: []*protocommon.RFC3161SignedTimestamp{{SignedTimestamp: t.SignedRFC3161Timestamp}},
		}
	}
	sum := sha256.Sum256(a.Payload)
	return bundle.NewBundle(&protobundle.Bundle{
		MediaType:            simpleBundleType,
		VerificationMaterial: material,
		Content: &protobundle.Bundle_MessageSignature{MessageSignature: &protocommon.MessageSignature{
			MessageDigest: &protocommon.HashOutput{Algorithm: protocommon.HashAlgorithm_SHA2_256, Digest: sum[:]},
			Signature:     sig,
		}},
	})
}

func readLogEntry(text string) (*protorekor.TransparencyLogEntry, error) {
	var e logEntry
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return nil, errors.New("its log entry is not JSON of the expected shape")
	}
	id, err := hex.DecodeString(e.Payload.LogID)
	if err != nil {
		return nil, errors.New("its log entry names no log")
	}
	var kind struct {
		Kind    string `json:"kind"`
		Version string `json:"apiVersion"`
	}
	if err := json.Unmarshal(e.Payload.Body, &kind); err != nil {
		return nil, fmt.Errorf("its log entry has a body that is not JSON of the expected shape")
	}
	return &protorekor.TransparencyLogEntry{
		LogIndex: e.Payload.LogIndex, LogId: &protocommon.LogId{KeyId: id}, IntegratedTime: e.Payload.IntegratedTime,
		KindVersion:       &protorekor.KindVersion{Kind: kind.Kind, Version: kind.Version},
		InclusionPromise:  &protorekor.InclusionPromise{SignedEntryTimestamp: e.SignedEntryTimestamp},
		CanonicalizedBody: e.Payload.Body,
	}, nil
}
