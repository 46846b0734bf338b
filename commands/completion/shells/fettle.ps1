# fettle's completion for PowerShell, 5.1 and later:
#   fettle completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName 'fettle' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words before the cursor, without quotes. The one that the cursor is in
    # goes first and behind a =, since an empty argument would get lost.
    $words = @()
    $cursor = ''
    foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.StartOffset -ge $cursorPosition) { break }
        $text = $element.Extent.Text
        if ($element -is [System.Management.Automation.Language.StringConstantExpressionAst] -or
            $element -is [System.Management.Automation.Language.ExpandableStringExpressionAst]) {
            $text = $element.Value
        }
        if ($element.Extent.EndOffset -ge $cursorPosition -and $wordToComplete -ne '') {
            $over = $element.Extent.EndOffset - $cursorPosition
            $cursor = $text.Substring(0, [Math]::Max(0, $text.Length - $over))
        } else {
            $words += $text
        }
    }

    $encoding = [Console]::OutputEncoding
    try {
        [Console]::OutputEncoding = [System.Text.Encoding]::UTF8
        $lines = @(& fettle __complete powershell -- "=$cursor" @words 2>$null)
    } catch {
        $lines = @()
    } finally {
        [Console]::OutputEncoding = $encoding
    }

    foreach ($line in $lines) {
        $value, $about = $line -split "`t", 2
        # Where only file names fit, PowerShell offers them by itself.
        if (-not $value -or $value.StartsWith(':')) { continue }
        if (-not $about) { $about = $value }
        $text = $value
        if ($value -match '[,@]') { $text = "'$value'" } # which mean something to PowerShell
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $about)
    }
}
