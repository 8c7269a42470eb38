// Package copy has one file for each SDK: a whole agent to copy into a folder of your own.
package copy
