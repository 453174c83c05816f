package sourcetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// Basic is a middleware that requires a user and password.
func Basic(user, password string) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if u, p, _ := r.BasicAuth(); u != user || p != password {
				w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
				refuse(w, http.StatusUnauthorized, "UNAUTHORIZED")
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Bearer is a middleware that requires its own token token server, which gives tokens
// for user and password (the distribution project's "Token Authentication
// Specification"). Each token is valid for uses read requests, without limit if uses is
// 0.
func Bearer(user, password string, uses int) Middleware {
	var mu sync.Mutex
	left := map[string]int{}
	issued := 0
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if r.URL.Path == "/token" {
				if u, p, _ := r.BasicAuth(); u != user || p != password {
					refuse(w, http.StatusUnauthorized, "UNAUTHORIZED")
					return
				}
				issued++
				token := fmt.Sprintf("token-%d", issued)
				left[token] = uses
				_ = json.NewEncoder(w).Encode(map[string]string{"token": token})
				return
			}
			token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			uses, known := left[token]
			if !known || uses < 0 {
				w.Header().Set("WWW-Authenticate", `Bearer realm="https://`+r.Host+`/token",service="test"`)
				refuse(w, http.StatusUnauthorized, "UNAUTHORIZED")
				return
			}
			switch {
			case r.Method != http.MethodGet:
			case uses == 1:
				left[token] = -1 // expired from now on
			case uses > 1:
				left[token]--
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Failing is a middleware that answers the first n requests whose path contains
// part with a status; all if n is negative.
func Failing(part string, n, status int) Middleware {
	var mu sync.Mutex
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			fails := n != 0 && strings.Contains(r.URL.Path, part)
			if fails {
				n--
			}
			mu.Unlock()
			if fails {
				refuse(w, status, "TEST")
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// refuse answers as a registry that refuses access, with a message that errors must not
// repeat.
func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"errors":[{"code":%q,"message":"hunter2\nand more"}]}`, code)
}
