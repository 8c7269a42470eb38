module github.com/carryon-go/carryon/stores/redis

go 1.25.0

replace github.com/carryon-go/carryon => ../..

require (
	github.com/alicebob/miniredis/v2 v2.40.0
	github.com/carryon-go/carryon v0.0.0
	github.com/redis/go-redis/v9 v9.22.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.35.0 // indirect
)
