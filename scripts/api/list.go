package main

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

type packagesByPath map[string]*types.Package

func listings(all packagesByPath) map[string][]string {
	lists := map[string][]string{}
	for path, pkg := range all {
		lists[path] = list(pkg)
	}
	return lists
}

// list returns what a package exports, a line for each name, field and method.
func list(pkg *types.Package) []string {
	l := lister{pkg: pkg}
	for _, name := range pkg.Scope().Names() {
		if object := pkg.Scope().Lookup(name); object.Exported() {
			l.object(object)
		}
	}
	slices.Sort(l.lines)
	return l.lines
}

type lister struct {
	pkg   *types.Package
	lines []string
}

func (l *lister) add(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// text returns a type as the package itself would write it.
func (l *lister) text(t types.Type) string {
	return types.TypeString(t, func(other *types.Package) string {
		if other == l.pkg {
			return ""
		}
		return other.Name()
	})
}

func (l *lister) object(object types.Object) {
	switch o := object.(type) {
	case *types.Const:
		value := " = " + o.Val().ExactString()
		if types.NewMethodSet(o.Type()).Lookup(nil, "MarshalText") != nil {
			value = "" // such values are stored as text
		}
		l.add("const %s %s%s", o.Name(), l.text(o.Type()), value)
	case *types.Var:
		l.add("var %s %s", o.Name(), l.text(o.Type()))
	case *types.Func:
		l.add("func %s%s", o.Name(), strings.TrimPrefix(l.text(o.Type()), "func"))
	case *types.TypeName:
		l.typeName(o)
	}
}

func (l *lister) typeName(o *types.TypeName) {
	t, alias := o.Type(), ""
	if a, ok := t.(*types.Alias); ok {
		t, alias = types.Unalias(a), " ="
		if named, ok := t.(*types.Named); !ok || !strings.Contains(named.Obj().Pkg().Path(), "/internal/") {
			l.add("type %s = %s", o.Name(), l.text(t))
			return
		}
	}
	var params string
	if named, ok := t.(*types.Named); ok && named.TypeParams().Len() > 0 {
		params = strings.TrimPrefix(l.text(named), o.Name())
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		l.add("type %s%s%s struct", o.Name(), params, alias)
		l.fields(o.Name(), u)
	case *types.Interface:
		l.interfaceType(o.Name(), params+alias, u)
		return
	default:
		l.add("type %s%s%s %s", o.Name(), params, alias, l.text(u))
	}
	l.methods(o.Name(), t)
}

func (l *lister) fields(name string, s *types.Struct) {
	for i := range s.NumFields() {
		if f := s.Field(i); f.Exported() {
			l.add("field %s.%s %s%s", name, f.Name(), l.text(f.Type()), tagOf(s.Tag(i)))
		}
	}
}

func tagOf(tag string) string {
	if tag == "" {
		return ""
	}
	return " `" + tag + "`"
}

func (l *lister) interfaceType(name, how string, i *types.Interface) {
	sealed := ""
	for m := range i.Methods() {
		if !m.Exported() {
			sealed = ", which no other package implements"
			continue
		}
		l.add("interface method %s.%s%s", name, m.Name(), strings.TrimPrefix(l.text(m.Type()), "func"))
	}
	l.add("type %s%s interface%s", name, how, sealed)
}

// methods lists the methods of the type and of its pointer. It includes promoted ones, unless they are those of an
// SDK's type.
func (l *lister) methods(name string, t types.Type) {
	ofValue := types.NewMethodSet(t)
	for selection := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		m := selection.Obj()
		if !token.IsExported(m.Name()) || strings.HasPrefix(l.pkg.Path(), modulePath) != strings.HasPrefix(m.Pkg().Path(), modulePath) {
			continue
		}
		pointer := ""
		if ofValue.Lookup(m.Pkg(), m.Name()) == nil {
			pointer = "*"
		}
		l.add("method %s.%s%s of %s%s", name, m.Name(), strings.TrimPrefix(l.text(selection.Type()), "func"), pointer, name)
	}
}
