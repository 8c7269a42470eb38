module github.com/carryon-go/carryon/cmd/carryon

go 1.25.0

require (
	github.com/carryon-go/carryon v0.0.0
	github.com/creack/pty v1.1.24
	github.com/rs/cors v1.11.1
	github.com/sashabaranov/go-openai v1.43.0
	github.com/stretchr/testify v1.12.1
	github.com/urfave/cli/v3 v3.14.0
	go.uber.org/goleak v1.3.0
	golang.org/x/term v0.34.0
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.35.0 // indirect
)
